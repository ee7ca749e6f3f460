#include "lower.hpp"

#include <cmath>

#include "prefix.hpp"

namespace symseed {
namespace {

// What a position of a row gives to its operator.
struct Argument {
  Source source;
  std::uint32_t index;
  bool varies;
};

// Writes the instructions of rows, one after another.
class Writer {
 public:
  Writer(const Vocabulary& vocabulary, Programs& programs) : vocabulary_(vocabulary), programs_(programs) {}

  void write(Row row) {
    row_ = row;
    waiting_.clear();
    count_ = values_ = most_ = 0;
    programs_.is_ordinary.push_back(1);
    RowProgram out{};
    out.first_instruction = static_cast<std::uint32_t>(programs_.instructions.size());
    out.first_number = static_cast<std::uint32_t>(programs_.numbers.size());
    for_each_constant(vocabulary_, row_, [&](int position) {
      if (!std::isfinite(row_.constants[position])) programs_.is_ordinary.back() = 0;
      programs_.numbers.push_back(row_.constants[position]);
      ++out.constants;
    });
    std::uint32_t constant = out.constants;
    first_number_ = out.first_number;
    for (int position = row_.length; position-- > 0;) {
      const Token token = row_.tokens[position];
      const int kind = vocabulary_.kind[token];
      if (kind == kConstant) {
        waiting_.push_back({Source::number, --constant, true});
      } else if (kind == kLiteral) {
        waiting_.push_back({Source::number, number(vocabulary_.value[token]), false});
      } else if (kind == kVariable) {
        waiting_.push_back({Source::column, static_cast<std::uint32_t>(vocabulary_.variable[token]), false});
      } else if (kind == kFunction) {
        programs_.is_ordinary.back() = 0;
        programs_.rows.push_back(out);
        return;
      } else {
        apply(kind, vocabulary_.arity[token], position);
      }
    }
    if (waiting_.back().source != Source::top) apply(kCopy, 1, 0);
    out.instructions = static_cast<std::uint32_t>(programs_.instructions.size()) - out.first_instruction;
    out.depth = static_cast<std::uint32_t>(most_);
    programs_.rows.push_back(out);
  }

 private:
  std::uint32_t number(double value) {
    programs_.numbers.push_back(value);
    return static_cast<std::uint32_t>(programs_.numbers.size()) - first_number_ - 1;
  }

  // The last value is on top, and those before it are on the stack.
  void apply(int opcode, int arity, int position) {
    Instruction out;
    out.opcode = static_cast<std::uint8_t>(opcode);
    out.position = static_cast<std::uint32_t>(position);
    const bool had_top = values_ > 0;
    const Argument a = waiting_.back();
    waiting_.pop_back();
    out.a_source = a.source, out.a = a.index, out.a_varies = a.varies;
    bool uses_top = a.source == Source::top;
    values_ -= uses_top;
    bool varies = a.varies;
    if (arity == 2) {
      const Argument b = waiting_.back();
      waiting_.pop_back();
      // The second of two computed arguments is below the first.
      out.b_source = b.source == Source::top && uses_top ? Source::slot : b.source;
      out.b = b.index, out.b_varies = b.varies;
      uses_top = uses_top || b.source == Source::top;
      values_ -= b.source == Source::top;
      varies = varies || b.varies;
    }
    out.pushes = had_top && !uses_top;
    ++values_;
    most_ = std::max(most_, values_ - 1);
    waiting_.push_back({Source::top, static_cast<std::uint32_t>(count_++), varies});
    programs_.instructions.push_back(out);
  }

  const Vocabulary& vocabulary_;
  Programs& programs_;
  Row row_{};
  std::vector<Argument> waiting_;  // arguments whose operator comes later
  std::uint32_t first_number_ = 0;
  int count_ = 0;   // instructions so far
  int values_ = 0;  // computed values that wait
  int most_ = 0;
};

}  // namespace

std::vector<Programs> make_programs(const Vocabulary& vocabulary, const Rows& rows, int threads, Monitor& monitor) {
  // Rows of a part: some ten microseconds of work.
  constexpr std::size_t kRows = 128;
  std::vector<Programs> parts((rows.count + kRows - 1) / kRows);
  parallel_chunks(rows.count, kRows, threads, monitor, [&] {
    return [&](std::size_t begin, std::size_t end) {
      monitor.check();
      Programs& out = parts[begin / kRows];
      Writer writer(vocabulary, out);
      for (std::size_t i = begin; i < end; ++i) writer.write(rows[i]);
    };
  });
  std::uint32_t instructions = 0, numbers = 0;
  for (Programs& part : parts) {
    for (RowProgram& row : part.rows) row.first_instruction += instructions, row.first_number += numbers;
    instructions += static_cast<std::uint32_t>(part.instructions.size());
    numbers += static_cast<std::uint32_t>(part.numbers.size());
  }
  return parts;
}

}  // namespace symseed
