// Bindings of Gaussian-process regression.
#include <algorithm>

#include "bind.hpp"
#include "gp.hpp"

namespace symseed {
namespace {

using Vector = Array<double, 1>;
using Named = std::optional<std::string>;

ProcessData to_data(const Constants& inputs, const Vector& goal, const Vector& noise, const Vector& scales,
                    double ratio) {
  const std::size_t columns = inputs.shape(0), count = inputs.shape(1);
  require(count > 0 && goal.shape(0) == count && noise.shape(0) == count,
          "`inputs` (V, M), `goal` (M,) and `noise` (M,) must have the same M, at least 1.");
  require(scales.shape(0) == columns, "`scales` must have a number for each column of the inputs.");
  const auto is_positive = [](double value) { return value > 0.0; };
  require(std::all_of(scales.data(), scales.data() + columns, is_positive) &&
              std::all_of(noise.data(), noise.data() + count, is_positive) && is_positive(ratio),
          "Length scales, noise factors and `ratio` must be positive.");
  return {inputs.data(), goal.data(), noise.data(), scales.data(), ratio, columns, count};
}

nb::tuple bind_evidence(const Constants& inputs, const Vector& goal, const Vector& noise, const Vector& scales,
                        double ratio, bool gradient, const Named& instruction_set) {
  const ProcessData data = to_data(inputs, goal, noise, scales, ratio);
  const InstructionSet& set = symseed::instruction_set(instruction_set);
  Evidence out;
  run([&](Monitor& monitor) { out = evidence(set, data, gradient, monitor); });
  return nb::make_tuple(out.value, to_numpy(std::move(out.gradient)));
}

nb::tuple bind_prediction(const Constants& inputs, const Vector& goal, const Vector& noise, const Vector& scales,
                          double ratio, const Constants& points, const Named& instruction_set) {
  const ProcessData data = to_data(inputs, goal, noise, scales, ratio);
  require(points.shape(0) == data.columns, "`points` must have the columns of the inputs.");
  const InstructionSet& set = symseed::instruction_set(instruction_set);
  Prediction out;
  run([&](Monitor& monitor) { out = prediction(set, data, points.data(), points.shape(1), monitor); });
  return nb::make_tuple(to_numpy(std::move(out.mean)), to_numpy(std::move(out.variance)),
                        to_numpy(std::move(out.left_out_mean)), to_numpy(std::move(out.left_out_variance)), out.noise);
}

}  // namespace

void bind_gp(nb::module_& m) {
  m.def("process_evidence", &bind_evidence, "inputs"_array, "goal"_array, "noise"_array, "scales"_array, "ratio"_a,
        nb::kw_only(), "gradient"_a = true, "instruction_set"_a = nb::none());
  m.def("process_prediction", &bind_prediction, "inputs"_array, "goal"_array, "noise"_array, "scales"_array, "ratio"_a,
        "points"_array, nb::kw_only(), "instruction_set"_a = nb::none());
}

}  // namespace symseed
