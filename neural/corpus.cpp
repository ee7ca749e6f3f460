// Random formulas with tables for them, from which the network learns: one call fills one batch.
//
// A formula is drawn from the leaves up: a multiset of variables is split among sums, products, powers and functions.
// It is written without what an outer a + b f makes up for. Tables are drawn as people measure them: in ranges, on
// grids, along trajectories, with columns that depend on one another or do not matter, and with noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

namespace {

// Ids: 0 ends a formula, symbols follow, then variables. The order is that of `SYMBOLS` in corpus.py.
enum Id : std::uint8_t { kEnd, kAdd, kSub, kMul, kDiv, kSqrt, kSquare, kExp, kLog, kSin, kCos, kConst, kVariable };

using Formula = std::vector<std::uint8_t>;
using Leaves = std::vector<int>;
using Column = std::vector<double>;

constexpr int kMostColumns = 9;
constexpr int kMostConstants = 5;
constexpr int kMostLeaves = 14;
constexpr std::uint64_t kValidation = 7, kFamilies = 64;  // one of 64 families of forms is for validation only

int arity(std::uint8_t id) { return id >= kAdd && id <= kDiv ? 2 : id >= kSqrt && id <= kCos ? 1 : 0; }

// --- Randomness ------------------------------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}

  std::uint64_t next() {  // SplitMix64 (Steele, Lea & Flood 2014)
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double decades(double low, double high) { return std::pow(10.0, between(low, high)); }
  int below(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
  bool chance(double probability) { return unit() < probability; }
  double normal() { return std::sqrt(-2.0 * std::log(unit() + 1e-300)) * std::cos(6.283185307179586 * unit()); }
  // The place of a weight, in proportion to the weights.
  std::size_t pick(std::initializer_list<double> weights) {
    double total = 0.0;
    for (const double weight : weights) total += weight;
    double left = unit() * total;
    std::size_t place = 0;
    for (const double weight : weights) {
      if (left < weight) return place;
      left -= weight;
      ++place;
    }
    return weights.size() - 1;
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  std::uint64_t state_;
};

// --- Formulas --------------------------------------------------------------------------------------------------------

Formula of(std::uint8_t id, const Formula& first, const Formula& second = {}) {
  Formula out;
  out.reserve(1 + first.size() + second.size());
  out.push_back(id);
  for (const Formula* part : {&first, &second}) std::copy(part->begin(), part->end(), std::back_inserter(out));
  return out;
}
const Formula kNumber{kConst};

// What stands around a part, which decides what would be superfluous in it.
enum class Around { nothing, sum, product, power, exponential, logarithm, wave };

bool is_scaled(Around around) {  // whether a factor would be superfluous
  return around == Around::nothing || around == Around::product || around == Around::power ||
         around == Around::logarithm;
}
bool is_offset(Around around) {  // whether a constant term would be superfluous
  return around == Around::nothing || around == Around::exponential || around == Around::sum;
}

class Drawer {
 public:
  explicit Drawer(Random& random)
      : random_(random), coefficients_(std::array{0.15, 0.4, 0.7}[random.pick({5, 3, 2})]) {}

  Formula part(const Leaves& leaves, Around around) {
    if (leaves.size() == 1) return single(leaves[0], around);
    if (leaves.size() == 2 && random_.chance(0.3)) return pair(leaves, around);
    switch (around) {
      case Around::nothing:
        return chosen(leaves, around, {0.5, 0.33, 0.17});
      case Around::sum:
        return chosen(leaves, around, {0.8, 0.0, 0.2});
      case Around::product:
        return chosen(leaves, around, {0.0, 0.62, 0.38});
      case Around::power:
        return chosen(leaves, around, {0.4, 0.6, 0.0});
      default:
        return chosen(leaves, around, {0.6, 0.32, 0.08});
    }
  }

 private:
  Formula chosen(const Leaves& leaves, Around around, std::initializer_list<double> weights) {
    switch (random_.pick(weights)) {
      case 0:
        return product(leaves);
      case 1:
        return sum(leaves, around);
      default:
        return function(leaves, around);
    }
  }

  Formula variable(int leaf) { return {static_cast<std::uint8_t>(kVariable + leaf)}; }

  // One variable, in one of the ways in which laws have them.
  Formula single(int leaf, Around around) {
    const Formula x = variable(leaf);
    const bool has_offset = !is_offset(around);
    switch (random_.pick({around == Around::nothing ? 0.22 : 0.62, around == Around::power ? 0.0 : 0.13, 0.1,
                          has_offset ? 0.13 : 0.0, around == Around::product ? 0.0 : 0.04, 0.03, 0.015})) {
      case 0:
        return x;
      case 1:
        return of(kSquare, x);
      case 2:
        return function({leaf}, around);
      case 3: {
        Formula inner = random_.chance(0.2) ? of(kSquare, x) : x;
        if (!is_scaled(around) && random_.chance(0.4)) inner = of(kMul, kNumber, inner);
        return random_.chance(0.7) ? of(kAdd, inner, kNumber) : of(kSub, kNumber, inner);
      }
      case 4:
        return of(kDiv, kNumber, x);
      case 5:
        return of(kMul, x, of(kSquare, x));
      default:
        return of(kSquare, of(kSquare, x));
    }
  }

  // Two variables that stand in one combination.
  Formula pair(const Leaves& leaves, Around around) {
    const Formula a = variable(leaves[0]), b = variable(leaves[1]);
    if (leaves[0] == leaves[1]) throw std::domain_error("the same twice");
    switch (random_.pick({0.3, 0.15, 0.12, 0.12, around == Around::power ? 0.0 : 0.16, 0.07, 0.15})) {
      case 0:
        return of(kSub, a, b);
      case 1:
        return of(kDiv, a, b);
      case 2:
        return of(kAdd, of(kSquare, a), of(kSquare, b));
      case 3:
        return of(kSub, of(kSquare, a), of(kSquare, b));
      case 4:
        return of(kSquare, of(kSub, a, b));
      case 5:  // 1 / (1 / a + c / b), as of resistors, lenses and reduced masses
        return of(kDiv, of(kMul, a, b), of(kAdd, a, random_.chance(0.5) ? of(kMul, kNumber, b) : b));
      default: {  // a number and the square of a quotient, as in 1 - v^2 / c^2
        const Formula ratio = of(kSquare, of(kDiv, a, b));
        return is_offset(around) ? ratio : random_.chance(0.6) ? of(kSub, kNumber, ratio) : of(kAdd, kNumber, ratio);
      }
    }
  }

  std::vector<Leaves> split(Leaves leaves, std::size_t count) {
    random_.shuffle(leaves);
    std::vector<Leaves> groups(count);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const std::size_t to = i < count             ? i
                             : random_.chance(0.6) ? 0
                                                   : static_cast<std::size_t>(random_.below(static_cast<int>(count)));
      groups[to].push_back(leaves[i]);
    }
    return groups;
  }

  Formula product(const Leaves& leaves) {
    std::size_t count = 2;
    while (count < leaves.size() && random_.chance(0.68)) ++count;
    const double above = random_.chance(0.5) ? 0.5 : 0.75;
    std::vector<Formula> over, under;
    for (const Leaves& group : split(leaves, count)) {
      const Formula factor = part(group, Around::product);
      for (const auto* side : {&over, &under}) {
        if (std::find(side->begin(), side->end(), factor) != side->end()) throw std::domain_error("a factor twice");
      }
      (random_.chance(above) ? over : under).push_back(factor);
    }
    const auto chain = [](const std::vector<Formula>& factors) {
      Formula out = factors.back();
      for (std::size_t i = factors.size() - 1; i-- > 0;) out = of(kMul, factors[i], out);
      return out;
    };
    if (under.empty()) return chain(over);
    return of(kDiv, over.empty() ? kNumber : chain(over), chain(under));
  }

  Formula sum(const Leaves& leaves, Around around) {
    std::size_t count = 2;
    while (count < leaves.size() && random_.chance(0.3)) ++count;
    std::vector<Formula> terms;
    for (const Leaves& group : split(leaves, count)) {
      const Formula term = part(group, Around::sum);
      if (std::find(terms.begin(), terms.end(), term) != terms.end()) throw std::domain_error("a term twice");
      terms.push_back(term);
    }
    Formula out;
    bool all_scaled = true;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      bool scaled = random_.chance(coefficients_) && terms[i][0] != kDiv;
      if (i + 1 == terms.size() && all_scaled && scaled && is_scaled(around)) scaled = false;  // one would be too many
      all_scaled &= scaled;
      const Formula term = scaled ? of(kMul, kNumber, terms[i]) : terms[i];
      out = i == 0 ? term : of(random_.chance(0.62) ? kAdd : kSub, out, term);
    }
    if (!is_offset(around) && random_.chance(0.2)) {
      out = random_.chance(0.7) ? of(kAdd, out, kNumber) : of(kSub, kNumber, out);
    }
    return out;
  }

  Formula function(const Leaves& leaves, Around around) {
    const bool is_inner = around == Around::exponential || around == Around::logarithm;
    const double powers = around == Around::power ? 0.0 : 1.0, growths = is_inner ? 0.0 : 1.0;
    const double waves = around == Around::wave ? 0.0 : 1.0;
    const bool is_single = leaves.size() == 1;
    if (powers + growths + waves == 0.0) return product(leaves);
    switch (random_.pick({(is_single ? 0.12 : 0.28) * powers, (is_single ? 0.0 : 0.2) * powers, 0.2 * growths,
                          0.08 * growths, 0.13 * waves, 0.14 * waves})) {
      case 0:
        return of(kSqrt, part(leaves, Around::power));
      case 1:
        return of(kSquare, part(leaves, Around::power));
      case 2: {
        const Formula inner = part(leaves, Around::exponential);
        const bool is_plain = inner[0] == kAdd || inner[0] == kSub;
        return of(kExp, !is_plain && random_.chance(0.6) ? of(kMul, kNumber, inner) : inner);
      }
      case 3:
        return of(kLog, part(leaves, Around::logarithm));
      default: {
        Formula inner = part(leaves, Around::wave);
        const bool is_plain = inner[0] == kAdd || inner[0] == kSub;
        if (!is_plain && random_.chance(0.4)) inner = of(kMul, kNumber, inner);
        if (!is_plain && random_.chance(0.1)) inner = of(kAdd, inner, kNumber);
        return of(random_.chance(0.5) ? kSin : kCos, inner);
      }
    }
  }

  Random& random_;
  double coefficients_;
};

// --- Forms -----------------------------------------------------------------------------------------------------------

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The form of a formula: which order its terms and factors have, how products and quotients are nested, what its
// numbers are and which variable is which make no difference.
class Form {
 public:
  // A hash that is equal for equal forms. Variables are told apart by how they stand in the rest: first all are alike,
  // then each is known by its place in the form with all others alike, and so on.
  static std::uint64_t of(const std::uint8_t* ids, std::size_t length) {
    std::array<std::uint64_t, 256> names{};
    names.fill(0x51ed);
    std::uint64_t whole = 0;
    for (int round = 0; round < 3; ++round) {
      whole = Form(ids, length, names).hash();
      std::array<std::uint64_t, 256> next = names;
      for (std::size_t v = kVariable; v < kVariable + kMostColumns; ++v) {
        std::array<std::uint64_t, 256> marked = names;
        marked[v] = mix(names[v] + 0x9e37);
        next[v] = Form(ids, length, marked).hash();
      }
      names = next;
    }
    return whole;
  }

 private:
  Form(const std::uint8_t* ids, std::size_t length, const std::array<std::uint64_t, 256>& names)
      : ids_(ids), length_(length), names_(names) {}

  std::uint64_t hash() {
    at_ = 0;
    const std::uint64_t out = sum_hash(terms());
    return out;
  }

  using Powers = std::map<std::uint64_t, double>;  // a product: powers by the hash of what they are of
  using Terms = std::vector<std::pair<double, Powers>>;

  // Terms of the part that begins at `at_`, with their signs; numbers as factors are left out.
  Terms terms() {
    if (at_ >= length_) return {};
    const std::uint8_t id = ids_[at_];
    if (id == kAdd || id == kSub) {
      ++at_;
      Terms out = terms();
      for (auto& [sign, powers] : terms()) out.emplace_back(id == kSub ? -sign : sign, std::move(powers));
      return out;
    }
    return {{1.0, powers()}};
  }

  Powers powers() {
    const std::uint8_t id = ids_[at_];
    if (id == kMul || id == kDiv) {
      ++at_;
      Powers out = powers();
      for (const auto& [of, power] : powers()) raise(out, of, id == kDiv ? -power : power);
      return out;
    }
    if (id == kSqrt || id == kSquare) {
      ++at_;
      Powers out;
      for (const auto& [of, power] : powers()) raise(out, of, power * (id == kSqrt ? 0.5 : 2.0));
      return out;
    }
    if (id == kConst) {
      ++at_;
      return {};
    }
    if (id >= kVariable) {
      ++at_;
      return {{mix(names_[id]), 1.0}};
    }
    if (id == kAdd || id == kSub) return {{mix(sum_hash(terms()) + 1), 1.0}};
    ++at_;
    const std::uint64_t inner = sum_hash(terms());
    return {{mix(inner * 31 + id), 1.0}};
  }

  static void raise(Powers& product, std::uint64_t of, double by) {
    double& power = product[of];
    power += by;
    if (power == 0.0) product.erase(of);
  }

  // A sum and the sum with the other signs are alike.
  static std::uint64_t sum_hash(const Terms& terms) {
    std::uint64_t total = 0x7a, opposite = 0x7a;
    for (const auto& [sign, powers] : terms) {
      std::uint64_t product = 0x3c;
      for (const auto& [of, power] : powers) {
        product += mix(of ^ mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(power * 4.0)) + 17));
      }
      total += mix(product + (sign < 0.0 ? 5 : 3));
      opposite += mix(product + (sign < 0.0 ? 3 : 5));
    }
    return mix(std::min(total, opposite));
  }

  const std::uint8_t* ids_;
  std::size_t length_, at_ = 0;
  const std::array<std::uint64_t, 256>& names_;
};

// --- Values ----------------------------------------------------------------------------------------------------------

class Values {
 public:
  // Evaluates a formula; false if a sine swings too far to be seen in the rows.
  bool run(const Formula& formula, const std::vector<double>& constants, const std::vector<Column>& columns,
           std::size_t count, Column& out, double swing) {
    std::size_t top = 0;
    for (std::size_t i = formula.size(); i-- > 0;) {
      const std::uint8_t id = formula[i];
      if (stack_.size() < top + 1) stack_.emplace_back();
      if (arity(id) == 0) {
        if (id == kConst) {
          stack_[top].assign(count, constants[i]);
        } else {
          const Column& column = columns[static_cast<std::size_t>(id - kVariable)];
          stack_[top].assign(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(count));
        }
        ++top;
        continue;
      }
      double* a = stack_[top - 1].data();
      if (arity(id) == 2) {
        double* b = stack_[top - 2].data();
        for (std::size_t j = 0; j < count; ++j) {
          b[j] = id == kAdd ? a[j] + b[j] : id == kSub ? a[j] - b[j] : id == kMul ? a[j] * b[j] : a[j] / b[j];
        }
        --top;
        continue;
      }
      if ((id == kSin || id == kCos) && range(a, count) > swing) return false;
      for (std::size_t j = 0; j < count; ++j) a[j] = apply(id, a[j]);
    }
    out = stack_[0];
    return true;
  }

 private:
  static double range(const double* values, std::size_t count) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t j = 0; j < count; ++j) {
      if (!std::isfinite(values[j])) continue;
      low = std::min(low, values[j]);
      high = std::max(high, values[j]);
    }
    return high - low;
  }
  static double apply(std::uint8_t id, double x) {
    switch (id) {
      case kSqrt:
        return std::sqrt(x);
      case kSquare:
        return x * x;
      case kExp:
        return std::exp(x);
      case kLog:
        return std::log(x);
      case kSin:
        return std::sin(x);
      default:
        return std::cos(x);
    }
  }
  std::vector<Column> stack_;
};

double mean_of(const Column& values, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

double covariance(const Column& a, const Column& b, std::size_t count) {
  const double first = mean_of(a, count), second = mean_of(b, count);
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += (a[i] - first) * (b[i] - second);
  return sum / static_cast<double>(count);
}

double deviation(const Column& values, std::size_t count) { return std::sqrt(covariance(values, values, count)); }

double constant(Random& random, double size) {
  static constexpr double kSimple[] = {
      1, 1, 1, 2, 2, 3, 4, 5, 0.5, 0.5, 0.25, 1.5, 3.141592653589793, 6.283185307179586, 10};
  const bool is_simple = random.chance(0.4);
  double value = is_simple ? kSimple[random.below(15)] : random.decades(-1.0, 1.0);
  if (!is_simple && random.chance(0.3)) value *= size;
  return random.chance(0.72) ? value : -value;
}

// --- Tables ----------------------------------------------------------------------------------------------------------

// Where the rows of a table come from.
enum class Design { random, grid, trajectory, correlated, even };

class Table {
 public:
  Table(Random& random, std::size_t columns, std::size_t rows) : random_(random), rows_(rows) {
    const double many = rows < 12 ? 0.0 : 1.0;
    design_ = static_cast<Design>(random.pick({0.66, 0.08 * many, 0.1 * many, 0.08 * many, columns == 1 ? 0.3 : 0.1}));
    common_ = random.chance(0.65) ? static_cast<int>(random.pick({0.48, 0.14, 0.12, 0.12, 0.08, 0.06})) : -1;
    // Units of the columns: mostly near 1, as after division by powers of two, and now and then far from it.
    unit_ = random.chance(0.72) ? 1.0 : random.decades(-1.5, 1.5);
    for (std::size_t j = 0; j < columns; ++j) columns_.push_back(column());
    for (const Column& column : columns_) {
      double largest = 0.0;
      for (const double value : column) largest = std::max(largest, std::fabs(value));
      size_ += largest / static_cast<double>(columns);
    }
  }

  const std::vector<Column>& columns() const { return columns_; }
  double size() const { return size_; }

 private:
  // Ranks of the rows of a column, in 0 ... 1.
  Column places() {
    Column out(rows_);
    switch (design_) {
      case Design::random:
        for (double& place : out) place = random_.unit();
        break;
      case Design::grid: {
        const int levels = 2 + random_.below(9);
        for (double& place : out) place = (random_.below(levels) + 0.5) / levels;
        break;
      }
      case Design::trajectory: {  // sums of two waves and a drift along the rows, as solutions of equations are
        const double a = random_.between(0.5, 4.0), b = random_.between(0.5, 12.0), drift = random_.normal();
        const double first = random_.between(0.0, 6.3), second = random_.between(0.0, 6.3), part = random_.unit();
        double low = 1e300, high = -1e300;
        for (std::size_t i = 0; i < rows_; ++i) {
          const double t = static_cast<double>(i) / static_cast<double>(rows_);
          out[i] = std::sin(a * 6.28 * t + first) + part * std::sin(b * 6.28 * t + second) + drift * t;
          low = std::min(low, out[i]);
          high = std::max(high, out[i]);
        }
        for (double& place : out) place = (place - low) / (high - low + 1e-12);
        break;
      }
      case Design::correlated: {
        if (shared_.empty()) {
          shared_.resize(rows_);
          for (double& place : shared_) place = random_.unit();
        }
        const double share = random_.between(0.3, 0.9);
        for (std::size_t i = 0; i < rows_; ++i) out[i] = share * shared_[i] + (1.0 - share) * random_.unit();
        break;
      }
      case Design::even:  // equal steps, as a sweep of one column or a design of experiments has
        for (std::size_t i = 0; i < rows_; ++i) out[i] = static_cast<double>(i) / static_cast<double>(rows_ - 1);
        random_.shuffle(out);
        break;
    }
    return out;
  }

  Column column() {
    const int kind = common_ >= 0 ? common_ : static_cast<int>(random_.pick({0.48, 0.14, 0.12, 0.12, 0.08, 0.06}));
    const double unit = common_ >= 0 ? unit_ : random_.chance(0.7) ? 1.0 : random_.decades(-2.0, 2.0);
    const double width = random_.decades(-0.2, 0.8), low = random_.between(0.0, 2.0);
    Column out = places();
    const double factor = random_.decades(0.5, 2.5);
    for (double& place : out) {
      switch (kind) {
        case 0:
          place = (low + width * place) * unit;
          break;  // positive
        case 1:
          place = width * (2.0 * place - 1.0) * unit;
          break;  // both signs
        case 2:
          place = width * place * unit;
          break;  // from 0
        case 3:
          place = (low + 0.2) * unit * std::pow(factor, place);
          break;  // several decades
        case 4:
          place = std::floor(1.0 + 2.0 * width * place);
          break;  // whole numbers
        default:
          place = (low + width * std::pow(-std::log(1.0 - 0.999 * place), 1.5)) * unit;
          break;  // a heavy tail
      }
    }
    return out;
  }

  Random& random_;
  std::size_t rows_;
  Design design_;
  int common_;
  double unit_, size_ = 0.0;
  Column shared_;
  std::vector<Column> columns_;
};

// Whether each variable and each number of a formula matters in the data, up to a + b f.
bool matters(Values& values, const Formula& formula, std::vector<double> constants, std::vector<Column> columns,
             const Column& y, std::size_t rows) {
  const std::size_t count = std::min<std::size_t>(rows, 64);
  const double spread = deviation(y, count);
  if (!(spread > 0.0)) return false;
  Column other;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (std::find(formula.begin(), formula.end(), static_cast<std::uint8_t>(kVariable + j)) == formula.end()) continue;
    const Column kept = columns[j];
    std::rotate(columns[j].begin(), columns[j].begin() + static_cast<std::ptrdiff_t>(count / 2),
                columns[j].begin() + static_cast<std::ptrdiff_t>(count));
    const bool is_seen = values.run(formula, constants, columns, count, other, 1e9);
    columns[j] = kept;
    if (!is_seen) return false;
    double square = 0.0;
    std::size_t finite = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(other[i])) continue;
      const double off = std::min(std::fabs(other[i] - y[i]), 10.0 * spread);
      square += off * off;
      ++finite;
    }
    if (finite < count / 4 || std::sqrt(square / static_cast<double>(finite)) < 0.05 * spread) return false;
  }
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (formula[i] != kConst) continue;
    constants[i] *= 1.4;
    const bool is_seen = values.run(formula, constants, columns, count, other, 1e9);
    constants[i] /= 1.4;
    if (!is_seen) return false;
    if (!std::all_of(other.begin(), other.end(), [](double v) { return std::isfinite(v); })) continue;
    const double own = deviation(other, count), both = covariance(other, y, count);
    if (!(own > 0.0) || 1.0 - both * both / (own * own * spread * spread) < 2e-5) return false;
  }
  return true;
}

bool is_tame(const Column& y, std::size_t rows) {
  const double spread = deviation(y, rows), mean = mean_of(y, rows);
  if (!(spread > 1e-8) || spread < 4e-3 * std::fabs(mean)) return false;
  double far = 0.0;
  for (std::size_t i = 0; i < rows; ++i) far = std::max(far, std::fabs(y[i] - mean));
  return far <= 14.0 * spread && (rows <= 24 || far <= 0.72 * spread * std::sqrt(static_cast<double>(rows)));
}

}  // namespace

extern "C" {

// The form of a formula, as a hash.
std::uint64_t form_of(const std::uint8_t* ids, std::size_t length) { return Form::of(ids, length); }

// Whether a form is for validation only.
int is_validation(std::uint64_t form) { return form % kFamilies == kValidation; }

// Fills a batch of `count` tables of `rows` rows and `columns` columns: values (count, rows, columns + 1), the target
// last, and ids (count, longest). Forms in `barred`, which is sorted, are left out; with `for_validation`, only forms
// of the validation family are drawn, otherwise only others. Returns the number of formulas that were tried.
std::int64_t draw_batch(std::uint64_t seed, int columns, int rows, int count, int longest, int for_validation,
                        const std::uint64_t* barred, std::size_t barred_count, float* values, std::uint8_t* ids) {
  Random random(seed);
  Values engine;
  const auto wide = static_cast<std::size_t>(columns), tall = static_cast<std::size_t>(rows);
  const std::size_t spare = 2 * tall;
  std::int64_t tried = 0;
  Column y;
  for (int done = 0; done < count;) {
    ++tried;
    std::vector<int> order(wide);
    for (std::size_t j = 0; j < wide; ++j) order[j] = static_cast<int>(j);
    random.shuffle(order);
    std::size_t used = wide;  // the others do not matter
    if (wide > 1 && random.chance(0.15)) used = 1 + static_cast<std::size_t>(random.below(columns - 1));
    Leaves leaves(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(used));
    const double more = used == 1 ? 0.65 : used <= 3 ? 0.5 : 0.3;
    while (leaves.size() < kMostLeaves && random.chance(more))
      leaves.push_back(order[static_cast<std::size_t>(random.below(static_cast<int>(used)))]);
    Formula formula;
    try {
      formula = Drawer(random).part(leaves, Around::nothing);
    } catch (const std::domain_error&) {
      continue;
    }
    if (formula.size() > static_cast<std::size_t>(longest)) continue;
    if (formula.size() == 1 && !random.chance(wide == 1 ? 0.3 : 0.1)) continue;  // a + b x
    const auto numbers = std::count(formula.begin(), formula.end(), static_cast<std::uint8_t>(kConst));
    if (numbers > kMostConstants || (tall < 20 && numbers > 1 + rows / 6)) continue;
    const std::uint64_t form = Form::of(formula.data(), formula.size());
    if (is_validation(form) != for_validation || std::binary_search(barred, barred + barred_count, form)) continue;
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Table table(random, wide, spare);
      std::vector<double> constants(formula.size());
      for (double& value : constants) value = constant(random, table.size());
      if (!engine.run(formula, constants, table.columns(), spare, y, std::min(30.0, 0.6 * rows))) continue;
      std::vector<Column> kept(wide);
      Column goal;
      for (std::size_t i = 0; i < spare && goal.size() < tall; ++i) {
        if (!std::isfinite(y[i]) || std::fabs(y[i]) > 1e9) continue;
        goal.push_back(y[i]);
        for (std::size_t j = 0; j < wide; ++j) kept[j].push_back(table.columns()[j][i]);
      }
      if (goal.size() < tall || !is_tame(goal, tall)) continue;
      if (!matters(engine, formula, constants, kept, goal, tall)) continue;
      double size = 0.0;
      for (const double value : goal) size += value * value / static_cast<double>(tall);
      size = std::sqrt(size);
      const double level = random.chance(0.35) ? 0.0 : random.decades(-3.0, -0.7);
      const bool is_relative = random.chance(0.3);
      // What an outer a + b f makes up for: a scale and an offset of the target.
      const double factor = random.chance(0.5) ? 1.0 : random.decades(-1.0, 1.0) * (random.chance(0.2) ? -1.0 : 1.0);
      const double offset = random.chance(0.7) ? 0.0 : random.normal() * size * std::fabs(factor);
      float* to = values + static_cast<std::size_t>(done) * tall * (wide + 1);
      for (std::size_t i = 0; i < tall; ++i) {
        for (std::size_t j = 0; j < wide; ++j) *to++ = static_cast<float>(kept[j][i]);
        const double error = level * (is_relative ? std::fabs(goal[i]) : size) * random.normal();
        *to++ = static_cast<float>(offset + factor * (goal[i] + error));
      }
      std::uint8_t* row = ids + static_cast<std::size_t>(done) * static_cast<std::size_t>(longest);
      std::memset(row, kEnd, static_cast<std::size_t>(longest));
      std::copy(formula.begin(), formula.end(), row);
      ++done;
      break;
    }
  }
  return tried;
}

}  // extern "C"
