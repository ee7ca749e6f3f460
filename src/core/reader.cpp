#include "reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "elementary.hpp"

namespace symseed {
namespace {

// Rows drawn together: a bound on memory.
constexpr std::size_t kTogether = 512;
constexpr double kHalfPi = 1.570796326794896619231;
constexpr double kTiny = 1e-12;

double bounded(double value, double most) { return std::clamp(value, -most, most); }

// Statistics of a column, or of the logarithms of its sizes.
struct Moments {
  double mean = 0.0;
  double deviation = 0.0;  // with M - 1 degrees of freedom

  template <class Of>
  Moments(std::size_t count, Of of) {
    for (std::size_t i = 0; i < count; ++i) mean += of(i);
    mean /= static_cast<double>(count);
    double square = 0.0;
    for (std::size_t i = 0; i < count; ++i) square += (of(i) - mean) * (of(i) - mean);
    deviation = count > 1 ? std::sqrt(square / static_cast<double>(count - 1)) : 0.0;
  }
};

// The features of each number of a column, (rows, kFeatures), `stride` apart: its size in several units, sines of it,
// and what is common to the column.
void write_features(const double* values, std::size_t rows, std::size_t columns, float* out, std::size_t stride) {
  using namespace elementary;
  const auto value = [&](std::size_t i) { return values[i * columns]; };
  double low = value(0), high = value(0);
  for (std::size_t i = 0; i < rows; ++i) {
    low = std::min(low, value(i));
    high = std::max(high, value(i));
  }
  std::vector<double> logs(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    logs[i] = bounded(elementary::log(std::fabs(value(i)) + kTiny), 20.0);
  }
  const Moments plain(rows, value);
  const Moments sizes(rows, [&](std::size_t i) { return logs[i]; });
  const double unit = plain.deviation + kTiny * std::max(std::fabs(low), std::fabs(high)) + 1e-30;
  const double common[] = {bounded(elementary::log(unit), 20.0) / 5.0, asinh(plain.mean / unit) / 2.0, sizes.mean / 5.0,
                           sizes.deviation};
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = value(i), z = bounded((x - plain.mean) / unit, 6.0), near = bounded(x, 60.0);
    const double centred = logs[i] - sizes.mean;
    const std::array<double, kFeatures> row = {
        z,
        static_cast<double>((x > 0.0) - (x < 0.0)),
        logs[i] / 5.0,
        bounded(centred, 6.0),
        asinh(x) / 3.0,
        sin(near),
        cos(near),
        1.0 - 2.0 / (exp(bounded(x, 60.0)) + 1.0),  // tanh(x / 2)
        sin(kHalfPi * z),
        cos(kHalfPi * z),
        sin(2.0 * kHalfPi * z),
        cos(2.0 * kHalfPi * z),
        sin(4.0 * kHalfPi * z),
        cos(4.0 * kHalfPi * z),
        common[0],
        common[1],
        common[2],
        common[3],
        centred / (sizes.deviation + 1e-3),
        asinh(low) / 3.0,
        asinh(high) / 3.0,
    };
    for (std::size_t j = 0; j < kFeatures; ++j) out[i * stride + j] = static_cast<float>(row[j]);
  }
}

}  // namespace

void Panels::assign(const float* from, std::size_t rows, std::size_t columns, std::size_t stride) {
  inputs = rows;
  width = in_whole_panels(columns);
  values.assign(inputs * width, 0.0f);
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t j = 0; j < columns; ++j) {
      values[j / kPanel * kPanel * inputs + k * kPanel + j % kPanel] = from[k * stride + j];
    }
  }
}

void Panels::assign_transposed(const float* from, std::size_t rows, std::size_t columns, std::size_t stride) {
  inputs = rows;
  width = in_whole_panels(columns);
  values.assign(inputs * width, 0.0f);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t k = 0; k < rows; ++k) {
      values[j / kPanel * kPanel * inputs + k * kPanel + j % kPanel] = from[j * stride + k];
    }
  }
}

std::size_t Reader::add(std::string name, std::size_t rows, std::size_t columns) {
  blocks_.push_back({std::move(name), size_, rows, columns});
  size_ += rows * columns;
  return blocks_.size() - 1;
}

Reader::Attention Reader::add_attention(const std::string& name, bool has_memory) {
  const auto width = static_cast<std::size_t>(shape_.width);
  Attention part{};
  part.norm = add(name + ".norm", 1, width);
  part.memory_norm = has_memory ? add(name + ".memory_norm", 1, width) : part.norm;
  part.query = add(name + ".query", width, width);
  part.memory = add(name + ".memory", width, 2 * width);
  part.out = add(name + ".out", width, width);
  return part;
}

Reader::Feed Reader::add_feed(const std::string& name, std::size_t factor) {
  const auto width = static_cast<std::size_t>(shape_.width);
  Feed part{};
  part.norm = add(name + ".norm", 1, width);
  part.in = add(name + ".inner", width, factor * width);
  part.in_bias = add(name + ".inner_bias", 1, factor * width);
  part.out = add(name + ".out", factor * width, width);
  part.out_bias = add(name + ".out_bias", 1, width);
  return part;
}

Reader::Reader(const ReaderShape& shape) : shape_(shape) {
  const auto width = static_cast<std::size_t>(shape.width);
  const auto symbols = static_cast<std::size_t>(shape.symbols);
  input_ = add("input", kFeatures, width);
  input_bias_ = add("input_bias", 1, width);
  input_kind_ = add("input_kind", 2, width);
  for (int i = 0; i < shape.grid_layers; ++i) {
    const std::string name = "grid." + std::to_string(i);
    GridLayer layer{};
    layer.columns = add_attention(name + ".columns", false);
    layer.rows = add_attention(name + ".rows", false);
    layer.feed = add_feed(name + ".feed", 2);
    grid_.push_back(layer);
  }
  seeds_ = add("gather.seeds", static_cast<std::size_t>(shape.latents), width);
  gather_ = add_attention("gather.attention", true);
  gather_feed_ = add_feed("gather.feed", 2);
  latent_kind_ = add("latent_kind", 2, width);
  for (int i = 0; i < shape.latent_layers; ++i) {
    const std::string name = "latent." + std::to_string(i);
    LatentLayer layer{};
    layer.attention = add_attention(name + ".attention", false);
    layer.feed = add_feed(name + ".feed", 4);
    latent_.push_back(layer);
  }
  // After the symbols: the beginning of a formula, and a variable.
  token_ = add("token", symbols + 2, width);
  place_ = add("place", static_cast<std::size_t>(shape.longest), width);
  open_ = add("open", static_cast<std::size_t>(shape.longest) + 2, width);
  column_in_ = add("column_in", width, width);
  column_in_bias_ = add("column_in_bias", 1, width);
  column_out_ = add("column_out", width, width);
  for (int i = 0; i < shape.decoder_layers; ++i) {
    const std::string name = "decoder." + std::to_string(i);
    DecoderLayer layer{};
    layer.prefix = add_attention(name + ".prefix", false);
    layer.latents = add_attention(name + ".latents", true);
    layer.feed = add_feed(name + ".feed", 4);
    decoder_.push_back(layer);
  }
  norm_ = add("norm", 1, width);
  head_ = add("head", width, symbols);
  head_bias_ = add("head_bias", 1, symbols);
  pointer_ = add("pointer", width, width);
}

void Reader::assign(const float* parameters) {
  parameters_.assign(parameters, parameters + size_);
  panels_.assign(blocks_.size(), {});
  const auto pack = [&](std::size_t block) {
    panels_[block].assign(part(block), blocks_[block].rows, blocks_[block].columns, blocks_[block].columns);
  };
  const auto pack_attention = [&](const Attention& of) {
    for (const std::size_t block : {of.query, of.memory, of.out}) pack(block);
  };
  const auto pack_feed = [&](const Feed& of) {
    pack(of.in);
    pack(of.out);
  };
  for (const std::size_t block : {input_, column_in_, column_out_, head_, pointer_}) pack(block);
  for (const GridLayer& layer : grid_) {
    pack_attention(layer.columns);
    pack_attention(layer.rows);
    pack_feed(layer.feed);
  }
  pack_attention(gather_);
  pack_feed(gather_feed_);
  for (const LatentLayer& layer : latent_) {
    pack_attention(layer.attention);
    pack_feed(layer.feed);
  }
  for (const DecoderLayer& layer : decoder_) {
    pack_attention(layer.prefix);
    pack_attention(layer.latents);
    pack_feed(layer.feed);
  }
}

Reading::Reading(std::shared_ptr<const Reader> reader, const InstructionSet& set, const double* values,
                 std::size_t rows, std::size_t columns, Monitor& monitor)
    : reader_(std::move(reader)),
      set_(set),
      width_(static_cast<std::size_t>(reader_->shape_.width)),
      heads_(static_cast<std::size_t>(reader_->shape_.heads)),
      variables_(columns - 1) {
  const Reader& own = *reader_;
  head_width_ = width_ / heads_;
  // Column after column, so that the rows of a column are together.
  const std::size_t count = rows * columns;
  std::vector<float> x(count * width_);
  std::vector<float> features(count * kFeatures);
  for (std::size_t c = 0; c < columns; ++c) {
    write_features(values + c, rows, columns, features.data() + c * rows * kFeatures, kFeatures);
    const float* kind = own.part(own.input_kind_) + (c + 1 == columns ? width_ : 0);
    for (std::size_t i = c * rows; i < (c + 1) * rows; ++i) {
      for (std::size_t j = 0; j < width_; ++j) x[i * width_ + j] = own.part(own.input_bias_)[j] + kind[j];
    }
  }
  set_.dense->add_product(x.data(), width_, features.data(), kFeatures, count, own.panels(own.input_));
  for (const Reader::GridLayer& layer : own.grid_) {
    attend_within(x, layer.columns, rows, columns, 1, rows, monitor);
    attend_within(x, layer.rows, columns, rows, rows, 1, monitor);
    feed(x.data(), count, layer.feed);
    monitor.check();
  }
  // Latent vectors of each column.
  const auto few = static_cast<std::size_t>(own.shape_.latents);
  latents_ = few * columns;
  std::vector<float> latent(latents_ * width_);
  for (std::size_t c = 0; c < columns; ++c) {
    float* own_latents = latent.data() + c * few * width_;
    std::copy_n(own.part(own.seeds_), few * width_, own_latents);
    Keys keys, column_values;
    remember(keys, column_values, own.gather_, x.data() + c * rows * width_, rows);
    attend_to(own_latents, few, own.gather_, keys, column_values, rows);
    feed(own_latents, few, own.gather_feed_);
    const float* kind = own.part(own.latent_kind_) + (c + 1 == columns ? width_ : 0);
    for (std::size_t i = 0; i < few; ++i) {
      for (std::size_t j = 0; j < width_; ++j) own_latents[i * width_ + j] += kind[j];
    }
    monitor.check();
  }
  for (const Reader::LatentLayer& layer : own.latent_) {
    attend_within(latent, layer.attention, 1, latents_, latents_, 1, monitor);
    feed(latent.data(), latents_, layer.feed);
  }
  // What the decoder reads.
  for (const Reader::DecoderLayer& layer : own.decoder_) {
    keys_.emplace_back();
    values_.emplace_back();
    remember(keys_.back(), values_.back(), layer.latents, latent.data(), latents_);
  }
  std::vector<float> mean(variables_ * width_);
  for (std::size_t c = 0; c < variables_; ++c) {
    for (std::size_t i = 0; i < few; ++i) {
      set_.dense->add_scaled(mean.data() + c * width_, 1.0f / static_cast<float>(few),
                             latent.data() + (c * few + i) * width_, width_);
    }
  }
  inward_.resize(variables_ * width_);
  outward_.resize(variables_ * width_);
  for (std::size_t c = 0; c < variables_; ++c) {
    std::copy_n(own.part(own.column_in_bias_), width_, inward_.data() + c * width_);
  }
  set_.dense->add_product(inward_.data(), width_, mean.data(), width_, variables_, own.panels(own.column_in_));
  set_.dense->add_product(outward_.data(), width_, mean.data(), width_, variables_, own.panels(own.column_out_));
}

void Reading::normalise(float* out, const float* x, std::size_t count, std::size_t gain) const {
  for (std::size_t i = 0; i < count; ++i) {
    set_.dense->normalise(out + i * width_, x + i * width_, reader_->part(gain), width_);
  }
}

void Reading::feed(float* x, std::size_t count, const Reader::Feed& part) const {
  const std::size_t inner = reader_->blocks_[part.in].columns;
  std::vector<float> norm(count * width_), middle(count * inner);
  normalise(norm.data(), x, count, part.norm);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(reader_->part(part.in_bias), inner, middle.data() + i * inner);
    set_.dense->add_scaled(x + i * width_, 1.0f, reader_->part(part.out_bias), width_);
  }
  set_.dense->add_product(middle.data(), inner, norm.data(), width_, count, reader_->panels(part.in));
  set_.dense->gelu(middle.data(), middle.size());
  set_.dense->add_product(x, width_, middle.data(), inner, count, reader_->panels(part.out));
}

// Keys and values by head; keys are followed by values in each of `count` rows.
void Reading::split(Keys& keys, Keys& values, const float* from, std::size_t stride, std::size_t count) const {
  keys.resize(heads_);
  values.resize(heads_);
  for (std::size_t head = 0; head < heads_; ++head) {
    keys[head].assign_transposed(from + head * head_width_, head_width_, count, stride);
    values[head].assign(from + width_ + head * head_width_, count, head_width_, stride);
  }
}

void Reading::remember(Keys& keys, Keys& values, const Reader::Attention& part, const float* memory,
                       std::size_t count) const {
  std::vector<float> norm(count * width_), both(count * 2 * width_);
  normalise(norm.data(), memory, count, part.memory_norm);
  set_.dense->add_product(both.data(), 2 * width_, norm.data(), width_, count, reader_->panels(part.memory));
  split(keys, values, both.data(), 2 * width_, count);
}

// out += softmax(queries . keys / sqrt(head width)) . values, head by head.
void Reading::attend(float* out, std::size_t out_stride, const float* queries, std::size_t stride, std::size_t count,
                     const Keys& keys, const Keys& values, std::size_t memory) const {
  constexpr std::size_t kBlock = 64;
  const std::size_t padded = in_whole_panels(memory);
  const float scale = 1.0f / std::sqrt(static_cast<float>(head_width_));
  std::vector<float> scores(kBlock * padded);
  for (std::size_t head = 0; head < heads_; ++head) {
    const std::size_t offset = head * head_width_;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      const std::size_t rows = std::min(kBlock, count - begin);
      std::fill(scores.begin(), scores.end(), 0.0f);
      set_.dense->add_product(scores.data(), padded, queries + begin * stride + offset, stride, rows, keys[head]);
      for (std::size_t i = 0; i < rows; ++i) {
        float* row = scores.data() + i * padded;
        float largest = row[0];
        for (std::size_t j = 1; j < memory; ++j) largest = std::max(largest, row[j]);
        for (std::size_t j = 0; j < memory; ++j) row[j] = (row[j] - largest) * scale;
        std::fill(row + memory, row + padded, -std::numeric_limits<float>::infinity());
        set_.recurrent->single.exponential(row, static_cast<int>(padded));
        float total = 0.0f;
        for (std::size_t j = 0; j < memory; ++j) total += row[j];
        const float share = 1.0f / total;
        for (std::size_t j = 0; j < memory; ++j) row[j] *= share;
      }
      set_.dense->add_product(out + begin * out_stride + offset, out_stride, scores.data(), padded, rows, values[head]);
    }
  }
}

// x += attention of each group of rows of x to itself. The rows of a group are `step_group` apart, groups `step`.
void Reading::attend_within(std::vector<float>& x, const Reader::Attention& part, std::size_t groups, std::size_t group,
                            std::size_t step, std::size_t step_group, Monitor& monitor) const {
  const std::size_t count = groups * group;
  std::vector<float> norm(count * width_), query(count * width_), memory(count * 2 * width_);
  normalise(norm.data(), x.data(), count, part.norm);
  set_.dense->add_product(query.data(), width_, norm.data(), width_, count, reader_->panels(part.query));
  set_.dense->add_product(memory.data(), 2 * width_, norm.data(), width_, count, reader_->panels(part.memory));
  std::fill(norm.begin(), norm.end(), 0.0f);
  Keys keys, values;
  for (std::size_t g = 0; g < groups; ++g) {
    if (g % 16 == 0) monitor.check();
    split(keys, values, memory.data() + g * step * 2 * width_, step_group * 2 * width_, group);
    attend(norm.data() + g * step * width_, step_group * width_, query.data() + g * step * width_, step_group * width_,
           group, keys, values, group);
  }
  set_.dense->add_product(x.data(), width_, norm.data(), width_, count, reader_->panels(part.out));
}

// x += attention of each row of x to a memory.
void Reading::attend_to(float* x, std::size_t count, const Reader::Attention& part, const Keys& keys,
                        const Keys& values, std::size_t memory) const {
  std::vector<float> norm(count * width_), query(count * width_);
  normalise(norm.data(), x, count, part.norm);
  set_.dense->add_product(query.data(), width_, norm.data(), width_, count, reader_->panels(part.query));
  std::fill(norm.begin(), norm.end(), 0.0f);
  attend(norm.data(), width_, query.data(), width_, count, keys, values, memory);
  set_.dense->add_product(x, width_, norm.data(), width_, count, reader_->panels(part.out));
}

// Prefixes of rows: the nodes of a tree, which the network passes through level by level, all nodes of a level
// together.
class Reading::Decoder {
 public:
  Decoder(const Reading& reading, const Rules& rules, const Spoken& spoken)
      : reading_(reading),
        reader_(*reading.reader_),
        rules_(rules),
        spoken_(spoken),
        walker_(rules),
        tokens_(rules.vocabulary().size()),
        width_(reading.width_),
        logits_(tokens_),
        memory_(reader_.decoder_.size()) {}

  // Most tokens of a row.
  std::size_t longest() const {
    return static_cast<std::size_t>(std::min(rules_.max_length(), reader_.shape_.longest));
  }

  // Draws or follows rows: choose(row, node) gives the next token of a row at a node, or nothing if it ends there.
  template <class Choose>
  void walk(std::size_t count, Monitor& monitor, Choose choose) {
    parents_.assign(1, 0);
    last_.assign(1, 0);
    for (std::vector<float>& part : memory_) part.clear();
    std::vector<std::size_t> place(count, 0);  // of each row
    std::vector<std::size_t> level = {0};      // the nodes of this level
    std::vector<std::size_t> alive(count);
    for (std::size_t i = 0; i < count; ++i) alive[i] = i;
    for (std::size_t depth = 0; depth < longest() && !alive.empty(); ++depth) {
      monitor.check();
      compute(level, depth);
      std::vector<std::size_t> next, rest;
      std::vector<std::size_t> child(level.size() * tokens_, 0);
      for (const std::size_t i : alive) {
        const std::size_t at = place[i] - level.front();
        const std::int32_t token = choose(i, depth, weights_.data() + at * tokens_, totals_[at], relative(at));
        if (token < 0) continue;
        std::size_t& to = child[at * tokens_ + static_cast<std::size_t>(token)];
        if (to == 0) {
          to = parents_.size();
          parents_.push_back(static_cast<std::uint32_t>(place[i]));
          last_.push_back(static_cast<Token>(token));
          next.push_back(to);
        }
        place[i] = to;
        rest.push_back(i);
      }
      level = std::move(next);
      alive = std::move(rest);
    }
  }

 private:
  const double* relative(std::size_t at) const { return relative_.data() + at * tokens_; }

  // The tokens of a prefix, from the first on.
  std::vector<Token> prefix(std::size_t node) const {
    std::vector<Token> out;
    for (; node != 0; node = parents_[node]) out.push_back(last_[node]);
    std::reverse(out.begin(), out.end());
    return out;
  }

  // Runs the network at the nodes of a level; gives the weights of the tokens that may come next, and their sum.
  void compute(const std::vector<std::size_t>& level, std::size_t depth) {
    const std::size_t count = level.size();
    std::vector<float> x(count * width_);
    weights_.assign(count * tokens_, 0.0);
    relative_.assign(count * tokens_, -std::numeric_limits<double>::infinity());
    totals_.assign(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      walker_.reset();
      for (const Token token : prefix(level[i])) walker_.push(token);
      embed(x.data() + i * width_, level[i], depth);
      walker_.logits(logits_.data());
      for (std::size_t t = 0; t < tokens_; ++t) {
        if (!std::isinf(logits_[t]) && spoken_.tokens[t] >= 0) relative_[i * tokens_ + t] = 0.0;
      }
    }
    for (std::size_t layer = 0; layer < reader_.decoder_.size(); ++layer) {
      attend_to_prefix(x, level, depth, layer);
      const Reader::DecoderLayer& part = reader_.decoder_[layer];
      reading_.attend_to(x.data(), count, part.latents, reading_.keys_[layer], reading_.values_[layer],
                         reading_.latents_);
      reading_.feed(x.data(), count, part.feed);
    }
    give(x);
  }

  void embed(float* x, std::size_t node, std::size_t depth) const {
    const auto symbols = static_cast<std::size_t>(reader_.shape_.symbols);
    const auto row = [&](std::size_t block, std::size_t at) { return reader_.part(block) + at * width_; };
    const auto add = [&](const float* from) {
      for (std::size_t j = 0; j < width_; ++j) x[j] += from[j];
    };
    if (node == 0) {
      add(row(reader_.token_, symbols));
    } else if (const auto spoken = static_cast<std::size_t>(spoken_.tokens[last_[node]]); spoken < symbols) {
      add(row(reader_.token_, spoken));
    } else {
      add(row(reader_.token_, symbols + 1));
      add(reading_.inward_.data() + (spoken - symbols) * width_);
    }
    add(row(reader_.place_, depth));
    add(row(reader_.open_, static_cast<std::size_t>(std::min(walker_.open(), reader_.shape_.longest + 1))));
  }

  void attend_to_prefix(std::vector<float>& x, const std::vector<std::size_t>& level, std::size_t depth,
                        std::size_t layer) {
    const Dense& dense = *reading_.set_.dense;
    const Reader::Attention& part = reader_.decoder_[layer].prefix;
    const std::size_t count = level.size(), head_width = reading_.head_width_;
    const float scale = 1.0f / std::sqrt(static_cast<float>(head_width));
    std::vector<float>& memory = memory_[layer];
    memory.resize(parents_.size() * 2 * width_);
    std::vector<float> norm(count * width_), query(count * width_);
    reading_.normalise(norm.data(), x.data(), count, part.norm);
    dense.add_product(query.data(), width_, norm.data(), width_, count, reader_.panels(part.query));
    dense.add_product(memory.data() + level.front() * 2 * width_, 2 * width_, norm.data(), width_, count,
                      reader_.panels(part.memory));
    std::fill(norm.begin(), norm.end(), 0.0f);
    std::vector<const float*> path(depth + 1);
    std::vector<float> scores(in_whole_panels(depth + 1));
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t node = level[i];
      for (std::size_t t = depth + 1; t-- > 0; node = parents_[node]) path[t] = memory.data() + node * 2 * width_;
      for (std::size_t head = 0; head < reading_.heads_; ++head) {
        const std::size_t offset = head * head_width;
        float largest = -std::numeric_limits<float>::infinity();
        for (std::size_t t = 0; t <= depth; ++t) {
          scores[t] = dense.dot(query.data() + i * width_ + offset, path[t] + offset, head_width);
          largest = std::max(largest, scores[t]);
        }
        for (std::size_t t = 0; t <= depth; ++t) scores[t] = (scores[t] - largest) * scale;
        std::fill(scores.begin() + static_cast<std::ptrdiff_t>(depth) + 1, scores.end(),
                  -std::numeric_limits<float>::infinity());
        reading_.set_.recurrent->single.exponential(scores.data(), static_cast<int>(scores.size()));
        float total = 0.0f;
        for (std::size_t t = 0; t <= depth; ++t) total += scores[t];
        for (std::size_t t = 0; t <= depth; ++t) {
          dense.add_scaled(norm.data() + i * width_ + offset, scores[t] / total, path[t] + width_ + offset, head_width);
        }
      }
    }
    dense.add_product(x.data(), width_, norm.data(), width_, count, reader_.panels(part.out));
  }

  // Turns the decoder's vectors into weights of tokens.
  void give(const std::vector<float>& x) {
    const Dense& dense = *reading_.set_.dense;
    const std::size_t count = totals_.size();
    const auto symbols = static_cast<std::size_t>(reader_.shape_.symbols);
    const std::size_t padded = in_whole_panels(symbols);
    std::vector<float> norm(count * width_), own(count * padded), pointer(count * width_);
    reading_.normalise(norm.data(), x.data(), count, reader_.norm_);
    for (std::size_t i = 0; i < count; ++i) std::copy_n(reader_.part(reader_.head_bias_), symbols, &own[i * padded]);
    dense.add_product(own.data(), padded, norm.data(), width_, count, reader_.panels(reader_.head_));
    dense.add_product(pointer.data(), width_, norm.data(), width_, count, reader_.panels(reader_.pointer_));
    const float scale = 1.0f / std::sqrt(static_cast<float>(width_));
    for (std::size_t i = 0; i < count; ++i) {
      double* relative = relative_.data() + i * tokens_;
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t t = 0; t < tokens_; ++t) {
        if (std::isinf(relative[t])) continue;
        const auto spoken = static_cast<std::size_t>(spoken_.tokens[t]);
        relative[t] = spoken < symbols
                          ? own[i * padded + spoken]
                          : scale * dense.dot(&pointer[i * width_],
                                              reading_.outward_.data() + (spoken - symbols) * width_, width_);
        largest = std::max(largest, relative[t]);
      }
      for (std::size_t t = 0; t < tokens_; ++t) {
        if (std::isinf(relative[t])) continue;
        relative[t] -= largest;
        weights_[i * tokens_ + t] = elementary::exp(relative[t]);
        totals_[i] += weights_[i * tokens_ + t];
      }
    }
  }

  const Reading& reading_;
  const Reader& reader_;
  const Rules& rules_;
  const Spoken& spoken_;
  Walker walker_;
  std::size_t tokens_, width_;
  std::vector<double> logits_;
  std::vector<std::uint32_t> parents_;      // by node; node 0 is the empty prefix
  std::vector<Token> last_;                 // by node: its last token
  std::vector<std::vector<float>> memory_;  // by layer: keys and values of each node
  std::vector<double> weights_, relative_;  // (nodes of the level, T): exp of the logits less the largest; those
  std::vector<double> totals_;              // (nodes of the level,): sums of the weights
};

void Reading::sample(const Rules& rules, const Spoken& spoken, std::size_t count, double temperature,
                     std::uint64_t seed, std::uint64_t step, Monitor& monitor, Token* tokens, std::int32_t* lengths,
                     double* log_probability) const {
  const std::size_t stride = static_cast<std::size_t>(rules.max_length());
  const std::uint8_t* arity = rules.arity();
  Decoder decoder(*this, rules, spoken);
  std::vector<double> warm(rules.vocabulary().size());
  for (std::size_t begin = 0; begin < count; begin += kTogether) {
    const std::size_t rows = std::min(kTogether, count - begin);
    std::vector<Rng> streams;
    std::vector<int> open(rows, 1);
    for (std::size_t i = 0; i < rows; ++i) {
      streams.emplace_back(seed, step, begin + i);
      lengths[begin + i] = 0;
      log_probability[begin + i] = 0.0;
    }
    decoder.walk(rows, monitor,
                 [&](std::size_t i, std::size_t depth, const double* weights, double total, const double* relative) {
                   if (open[i] == 0 || !(total > 0.0)) return std::int32_t{-1};
                   double sum = total;
                   if (temperature != 1.0) {
                     sum = 0.0;
                     for (std::size_t t = 0; t < warm.size(); ++t) {
                       warm[t] = weights[t] > 0.0 ? elementary::exp(relative[t] / temperature) : 0.0;
                       sum += warm[t];
                     }
                     weights = warm.data();
                   }
                   double left = streams[i].uniform() * sum;
                   std::int32_t token = -1;
                   for (std::size_t t = 0; t < warm.size() && left >= 0.0; ++t) {
                     if (!(weights[t] > 0.0)) continue;
                     token = static_cast<std::int32_t>(t);
                     left -= weights[t];
                   }
                   const std::size_t row = begin + i;
                   tokens[row * stride + depth] = static_cast<Token>(token);
                   log_probability[row] += relative[token] - elementary::log(total);
                   open[i] += arity[token] - 1;
                   if (open[i] == 0) lengths[row] = static_cast<std::int32_t>(depth) + 1;
                   return open[i] == 0 ? std::int32_t{-1} : token;
                 });
  }
}

void Reading::log_probabilities(const Rules& rules, const Spoken& spoken, const Rows& rows, Monitor& monitor,
                                double* log_probability) const {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Decoder decoder(*this, rules, spoken);
  for (std::size_t begin = 0; begin < rows.count; begin += kTogether) {
    const std::size_t count = std::min(kTogether, rows.count - begin);
    std::fill_n(log_probability + begin, count, 0.0);
    decoder.walk(count, monitor,
                 [&](std::size_t i, std::size_t depth, const double*, double total, const double* relative) {
                   const Row row = rows[begin + i];
                   double& sum = log_probability[begin + i];
                   const auto length = static_cast<std::size_t>(row.length);
                   if (depth >= length) return std::int32_t{-1};
                   const Token token = row.tokens[depth];
                   if (std::isinf(relative[token]) || !(total > 0.0) || length > decoder.longest()) {
                     sum = kNever;
                     return std::int32_t{-1};
                   }
                   sum += relative[token] - elementary::log(total);
                   return depth + 1 < length ? static_cast<std::int32_t>(token) : std::int32_t{-1};
                 });
  }
}

}  // namespace symseed
