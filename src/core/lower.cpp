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
  Writer(const Vocabulary& vocabulary, const Programs& to) : vocabulary_(vocabulary), to_(to) {}

  // Writes number `index` of the rows, to the places that `count_programs` has left for it.
  void write(Row row, std::size_t index) {
    waiting_.clear();
    count_ = values_ = most_ = numbers_ = 0;
    RowProgram& out = to_.rows[index];
    out.instructions = out.constants = out.depth = 0;
    instructions_ = to_.instructions + out.first_instruction;
    number_ = to_.numbers + out.first_number;
    std::uint8_t is_ordinary = 1;
    for_each_constant(vocabulary_, row, [&](int position) {
      if (!std::isfinite(row.constants[position])) is_ordinary = 0;
      number(row.constants[position]);
      ++out.constants;
    });
    std::uint32_t constant = out.constants;
    for (int position = row.length; position-- > 0;) {
      const Token token = row.tokens[position];
      const int kind = vocabulary_.kind[token];
      if (kind == kConstant) {
        waiting_.push_back({Source::number, --constant, true});
      } else if (kind == kLiteral) {
        waiting_.push_back({Source::number, number(vocabulary_.value[token]), false});
      } else if (kind == kVariable) {
        waiting_.push_back({Source::column, static_cast<std::uint32_t>(vocabulary_.variable[token]), false});
      } else if (kind == kFunction) {
        to_.is_ordinary[index] = 0;
        return;
      } else {
        apply(kind, vocabulary_.arity[token], position);
      }
    }
    if (waiting_.back().source != Source::top) apply(kCopy, 1, 0);
    out.instructions = static_cast<std::uint32_t>(count_);
    out.depth = static_cast<std::uint32_t>(most_);
    to_.is_ordinary[index] = is_ordinary;
  }

 private:
  std::uint32_t number(double value) {
    number_[numbers_] = value;
    return numbers_++;
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
    instructions_[count_] = out;
    waiting_.push_back({Source::top, static_cast<std::uint32_t>(count_++), varies});
  }

  const Vocabulary& vocabulary_;
  const Programs& to_;
  std::vector<Argument> waiting_;  // arguments whose operator comes later
  Instruction* instructions_ = nullptr;
  double* number_ = nullptr;
  std::uint32_t numbers_ = 0;  // so far, as the next two
  int count_ = 0;              // instructions
  int values_ = 0;             // computed values that wait
  int most_ = 0;
};

// Rows of a part: some ten microseconds of work, and some more if only lengths are asked.
constexpr std::size_t kRows = 128, kRowsToCount = 1024;

}  // namespace

ProgramSizes count_programs(const Vocabulary& vocabulary, const Rows& rows, RowProgram* out, int threads,
                            Monitor& monitor) {
  parallel_chunks(rows.count, kRowsToCount, threads, monitor, [&] {
    return [&](std::size_t begin, std::size_t end) {
      monitor.check();
      for (std::size_t i = begin; i < end; ++i) {
        const Row row = rows[i];
        std::uint32_t leaves = 0, numbers = 0;
        for (int position = 0; position < row.length; ++position) {
          const int kind = vocabulary.kind[row.tokens[position]];
          const bool is_number = kind == kConstant || kind == kLiteral;
          numbers += is_number;
          leaves += is_number || kind == kVariable;
        }
        const std::uint32_t operators = static_cast<std::uint32_t>(row.length) - leaves;
        out[i].instructions = operators > 0 ? operators : 1;
        out[i].constants = numbers;
      }
    };
  });
  ProgramSizes sizes{};
  for (std::size_t i = 0; i < rows.count; ++i) {
    out[i].first_instruction = sizes.instructions, out[i].first_number = sizes.numbers;
    sizes.instructions += out[i].instructions, sizes.numbers += out[i].constants;
  }
  return sizes;
}

void write_programs(const Vocabulary& vocabulary, const Rows& rows, const Programs& to, int threads, Monitor& monitor) {
  parallel_chunks(rows.count, kRows, threads, monitor, [&] {
    return [&, writer = Writer(vocabulary, to)](std::size_t begin, std::size_t end) mutable {
      monitor.check();
      for (std::size_t i = begin; i < end; ++i) writer.write(rows[i], i);
    };
  });
}

}  // namespace symseed
