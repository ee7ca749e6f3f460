// A network that reads a table, and gives the probability of each next token of a formula for it.
//
// Each number of the table is a vector; attention (Vaswani et al. 2017) among the columns of a row and among the rows
// of a column mixes them, and a few latent vectors sum up each column (Lee et al. 2019). A decoder reads the prefix of
// a formula and the latent vectors. A variable is chosen by pointing at its column (Vinyals et al. 2015), so the
// network does not depend on the order of columns. It follows Biggio et al. (2021), "Neural symbolic regression that
// scales".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dispatch.hpp"
#include "lstm.hpp"
#include "walk.hpp"

namespace symseed {

struct ReaderShape {
  int width;           // of each vector, a multiple of kPanel
  int heads;           // of attention; width / heads is a multiple of kPanel
  int grid_layers;     // over the numbers of the table
  int latents;         // latent vectors of a column
  int latent_layers;   // over the latent vectors of all columns
  int decoder_layers;  // over the prefix
  int longest;         // tokens of a formula
  int symbols;         // tokens that are not variables
};

// Features of a number of the table, which the first layer reads.
inline constexpr std::size_t kFeatures = 21;

class Reading;

class Reader {
 public:
  explicit Reader(const ReaderShape& shape);

  const ReaderShape& shape() const { return shape_; }
  // The parameters: kernels are (inputs, outputs).
  const std::vector<Block>& blocks() const { return blocks_; }
  std::size_t size() const { return size_; }
  // Takes the parameters, block after block.
  void assign(const float* parameters);

 private:
  friend class Reading;
  struct Attention {  // its own normalisation, then queries, keys and values, and a kernel for what was attended to
    std::size_t norm, memory_norm, query, memory, out;
  };
  struct Feed {
    std::size_t norm, in, in_bias, out, out_bias;
  };
  struct GridLayer {
    Attention columns, rows;
    Feed feed;
  };
  struct LatentLayer {
    Attention attention;
    Feed feed;
  };
  struct DecoderLayer {
    Attention prefix, latents;
    Feed feed;
  };
  std::size_t add(std::string name, std::size_t rows, std::size_t columns);
  Attention add_attention(const std::string& name, bool has_memory);
  Feed add_feed(const std::string& name, std::size_t factor);
  const float* part(std::size_t block) const { return parameters_.data() + blocks_[block].offset; }
  const Panels& panels(std::size_t block) const { return panels_[block]; }

  ReaderShape shape_;
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
  std::vector<float> parameters_;
  std::vector<Panels> panels_;  // by block
  std::size_t input_, input_bias_, input_kind_;
  std::vector<GridLayer> grid_;
  std::size_t seeds_;
  Attention gather_;
  Feed gather_feed_;
  std::size_t latent_kind_;
  std::vector<LatentLayer> latent_;
  std::size_t token_, place_, open_, column_in_, column_in_bias_, column_out_;
  std::vector<DecoderLayer> decoder_;
  std::size_t norm_, head_, head_bias_, pointer_;
};

// What the network gives for each token of a library: a symbol, a column of the table, or nothing.
struct Spoken {
  static constexpr std::int32_t kNothing = -1;
  std::span<const std::int32_t> tokens;  // (T,): symbol, number of symbols + column, or kNothing
};

// A table as the network has read it.
class Reading {
 public:
  // `values` is (rows, columns), the target last.
  Reading(std::shared_ptr<const Reader> reader, const InstructionSet& set, const double* values, std::size_t rows,
          std::size_t columns, Monitor& monitor);

  const Reader& reader() const { return *reader_; }
  std::size_t variables() const { return variables_; }

  // Draws rows that the rules allow, with one stream per row. A row that reaches a dead end has length 0. Prefixes
  // that rows share are computed once. `log_probability` is that of the row, among the tokens that were allowed.
  void sample(const Rules& rules, const Spoken& spoken, std::size_t count, double temperature, std::uint64_t seed,
              std::uint64_t step, Monitor& monitor, Token* tokens, std::int32_t* lengths,
              double* log_probability) const;
  // log p of each row among the tokens that were allowed, -inf for a row that cannot be drawn.
  void log_probabilities(const Rules& rules, const Spoken& spoken, const Rows& rows, Monitor& monitor,
                         double* log_probability) const;

 private:
  class Decoder;
  using Keys = std::vector<Panels>;  // by head
  void attend(float* out, std::size_t out_stride, const float* queries, std::size_t stride, std::size_t count,
              const Keys& keys, const Keys& values, std::size_t memory) const;
  void split(Keys& keys, Keys& values, const float* from, std::size_t stride, std::size_t count) const;
  void attend_within(std::vector<float>& x, const Reader::Attention& part, std::size_t groups, std::size_t group,
                     std::size_t step, std::size_t step_group, Monitor& monitor) const;
  void attend_to(float* x, std::size_t count, const Reader::Attention& part, const Keys& keys, const Keys& values,
                 std::size_t memory) const;
  void remember(Keys& keys, Keys& values, const Reader::Attention& part, const float* memory, std::size_t count) const;
  void feed(float* x, std::size_t count, const Reader::Feed& part) const;
  void normalise(float* out, const float* x, std::size_t count, std::size_t gain) const;

  std::shared_ptr<const Reader> reader_;
  const InstructionSet& set_;
  std::size_t width_, head_width_, heads_;
  std::size_t variables_;
  std::size_t latents_;                  // latent vectors of all columns
  std::vector<Keys> keys_, values_;      // of the decoder's layers
  std::vector<float> inward_, outward_;  // (variables, width): a column as an input, and as something to point at
};

}  // namespace symseed
