// Bindings of the network that reads tables.
#include <algorithm>
#include <cmath>

#include "bind.hpp"
#include "reader.hpp"

namespace symseed {
namespace {

using Named = std::optional<std::string>;
using Spoken32 = Array<std::int32_t, 1>;

// Largest sizes, far beyond those of any network that is useful here: they keep products of sizes small.
constexpr int kMostWidth = 4096, kMostLayers = 64, kMostLatents = 256, kMostTokens = 1024;
constexpr std::size_t kMostRows = 100'000, kMostColumns = 1'000;

Reader make_reader(int width, int heads, int grid_layers, int latents, int latent_layers, int decoder_layers,
                   int longest, int symbols) {
  constexpr int kPanelWidth = static_cast<int>(kPanel);
  require(width >= 1 && width <= kMostWidth && heads >= 1 && width % heads == 0 && width / heads % kPanelWidth == 0,
          "`width` must be `heads` times a multiple of 16, at most 4096.");
  require(grid_layers >= 0 && grid_layers <= kMostLayers && latent_layers >= 0 && latent_layers <= kMostLayers &&
              decoder_layers >= 1 && decoder_layers <= kMostLayers,
          "The network has at most 64 layers of a kind, and at least one of the decoder.");
  require(latents >= 1 && latents <= kMostLatents && longest >= 1 && longest <= kMostTokens && symbols >= 1 &&
              symbols <= kMostTokens,
          "A size of the network is out of range.");
  return Reader({width, heads, grid_layers, latents, latent_layers, decoder_layers, longest, symbols});
}

nb::list bind_blocks(const Reader& reader) {
  nb::list out;
  for (const Block& block : reader.blocks()) out.append(nb::make_tuple(block.name, block.rows, block.columns));
  return out;
}

std::unique_ptr<Reading> bind_read(const std::shared_ptr<const Reader>& reader, const Constants& values,
                                   const Named& instruction_set) {
  const std::size_t rows = values.shape(0), columns = values.shape(1);
  require(rows >= 1 && rows <= kMostRows && columns >= 2 && columns <= kMostColumns,
          "`values` must have at least a row, a column and the target, and be no larger than the network can read.");
  require(std::all_of(values.data(), values.data() + rows * columns, [](double x) { return std::isfinite(x); }),
          "`values` must be finite.");
  const InstructionSet& set = symseed::instruction_set(instruction_set);
  std::unique_ptr<Reading> out;
  run([&](Monitor& monitor) { out = std::make_unique<Reading>(reader, set, values.data(), rows, columns, monitor); });
  return out;
}

Spoken to_spoken(const Reading& reading, const Rules& rules, const Spoken32& spoken) {
  const std::int32_t most = reading.reader().shape().symbols + static_cast<std::int32_t>(reading.variables());
  require(spoken.shape(0) == rules.vocabulary().size() &&
              std::all_of(spoken.data(), spoken.data() + spoken.shape(0),
                          [=](std::int32_t id) { return id >= Spoken::kNothing && id < most; }),
          "`spoken` must have a symbol, a column or -1 for each token.");
  return {{spoken.data(), spoken.shape(0)}};
}

nb::tuple bind_sample(const Reading& reading, const Rules& rules, const Spoken32& spoken, std::size_t count,
                      double temperature, std::uint64_t seed, std::uint64_t step) {
  require(temperature > 0.0, "`temperature` must be positive.");
  const Spoken words = to_spoken(reading, rules, spoken);
  NewRows drawn(count, static_cast<std::size_t>(rules.max_length()), false);
  std::vector<double> log_probability(count);
  run([&](Monitor& monitor) {
    reading.sample(rules, words, count, temperature, seed, step, monitor, drawn.tokens.data(), drawn.lengths.data(),
                   log_probability.data());
  });
  const nb::tuple rows = tokens_and_lengths(std::move(drawn));
  return nb::make_tuple(rows[0], rows[1], to_numpy(std::move(log_probability)));
}

nb::object bind_log_probabilities(const Reading& reading, const Rules& rules, const Spoken32& spoken,
                                  const Tokens& tokens, const Lengths& lengths, const Constants& constants) {
  const Spoken words = to_spoken(reading, rules, spoken);
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  std::vector<double> log_probability(rows.count);
  run([&](Monitor& monitor) { reading.log_probabilities(rules, words, rows, monitor, log_probability.data()); });
  return nb::cast(to_numpy(std::move(log_probability)));
}

}  // namespace

void bind_reader(nb::module_& m) {
  nb::class_<Reader>(m, "Reader")
      .def_static(
          "of",
          [](int width, int heads, int grid_layers, int latents, int latent_layers, int decoder_layers, int longest,
             int symbols) {
            return std::make_shared<Reader>(
                make_reader(width, heads, grid_layers, latents, latent_layers, decoder_layers, longest, symbols));
          },
          nb::kw_only(), "width"_a, "heads"_a, "grid_layers"_a, "latents"_a, "latent_layers"_a, "decoder_layers"_a,
          "longest"_a, "symbols"_a)
      .def("blocks", &bind_blocks)
      .def(
          "assign",
          [](Reader& reader, const Array<float, 1>& parameters) {
            require(parameters.shape(0) == reader.size(), "The network must be given all of its parameters.");
            reader.assign(parameters.data());
          },
          "parameters"_array)
      .def(
          "read",
          [](const std::shared_ptr<Reader>& reader, const Constants& values, const Named& instruction_set) {
            return bind_read(reader, values, instruction_set);
          },
          "values"_array, nb::kw_only(), "instruction_set"_a = nb::none());
  nb::class_<Reading>(m, "Reading")
      .def("sample", &bind_sample, "rules"_a, "spoken"_array, "count"_a, nb::kw_only(), "temperature"_a = 1.0, "seed"_a,
           "step"_a)
      .def("log_probabilities", &bind_log_probabilities, "rules"_a, "spoken"_array, "tokens"_array, "lengths"_array,
           "constants"_array);
}

}  // namespace symseed
