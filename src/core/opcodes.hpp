// The operators: name, arity, complexity, action on dimensions, value and derivative of each. The one definition;
// Python reads this table.
//
// To add one: write its struct, and append its name to the list below. `value` works on vectors; where it gives NaN for
// arguments that the operator does take, `exact` says what it is (elementary.hpp). `slope` is the partial derivative by
// each argument, given the arguments and the value. `inverse` is the argument that gives a wanted value, on its
// principal branch, NaN where there is none (`inverse_a` and `inverse_b` also know the other argument); an operator
// without it has no inverse. Complexities are those of the authors' released code; pow, min and max are ours.
#pragma once

// Every operator by the name of its struct; its opcode is its place here. A macro, because the labels to which
// kernels.cpp jumps can only be made from text.
// clang-format off
#define SYMSEED_OPERATORS(X)                                                                                       \
  X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(Min) X(Max) X(Sin) X(Cos) X(Tan) X(Exp) X(Log) X(Sqrt) X(Square) X(Cube)    \
  X(Quartic) X(Inv) X(Neg) X(Abs) X(Tanh) X(Sigmoid) X(Expneg) X(Logabs)
// clang-format on

namespace symseed {

#define SYMSEED_NAMED(Op) Op,
enum class Opcode : int { SYMSEED_OPERATORS(SYMSEED_NAMED) count };
#undef SYMSEED_NAMED

inline constexpr int kOperatorCount = static_cast<int>(Opcode::count);

}  // namespace symseed

// The structs themselves, for files that say with which vectors they compute; all others need their number only.
#ifdef SYMSEED_ISA

#include <tuple>

#include "action.hpp"
#include "elementary.hpp"
#include "math.hpp"

namespace symseed::SYMSEED_ISA {

struct Add {
  static constexpr const char* name = "add";
  static constexpr int arity = 2, complexity = 1;
  static constexpr Action action = kAlike;
  static Vec value(Vec a, Vec b) { return a + b; }
  static Vec slope_a(Vec, Vec, Vec) { return splat(1.0); }
  static Vec slope_b(Vec, Vec, Vec) { return splat(1.0); }
  static Vec inverse_a(Vec wanted, Vec b) { return wanted - b; }
  static Vec inverse_b(Vec wanted, Vec a) { return wanted - a; }
};
struct Sub {
  static constexpr const char* name = "sub";
  static constexpr int arity = 2, complexity = 1;
  static constexpr Action action = kAlike;
  static Vec value(Vec a, Vec b) { return a - b; }
  static Vec slope_a(Vec, Vec, Vec) { return splat(1.0); }
  static Vec slope_b(Vec, Vec, Vec) { return splat(-1.0); }
  static Vec inverse_a(Vec wanted, Vec b) { return wanted + b; }
  static Vec inverse_b(Vec wanted, Vec a) { return a - wanted; }
};
struct Mul {
  static constexpr const char* name = "mul";
  static constexpr int arity = 2, complexity = 1;
  static constexpr Action action = times_second_to(1);
  static Vec value(Vec a, Vec b) { return a * b; }
  static Vec slope_a(Vec, Vec b, Vec) { return b; }
  static Vec slope_b(Vec a, Vec, Vec) { return a; }
  static Vec inverse_a(Vec wanted, Vec b) { return wanted / b; }
  static Vec inverse_b(Vec wanted, Vec a) { return wanted / a; }
};
struct Div {
  static constexpr const char* name = "div";
  static constexpr int arity = 2, complexity = 2;
  static constexpr Action action = times_second_to(-1);
  static Vec value(Vec a, Vec b) { return a / b; }
  static Vec slope_a(Vec, Vec b, Vec) { return 1.0 / b; }
  static Vec slope_b(Vec, Vec b, Vec f) { return -f / b; }
  static Vec inverse_a(Vec wanted, Vec b) { return wanted * b; }
  static Vec inverse_b(Vec wanted, Vec a) { return choose(a == 0.0, splat(kNan), a / wanted); }
};
struct Pow {
  static constexpr const char* name = "pow";
  static constexpr int arity = 2, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec, Vec) { return splat(kNan); }
  static double exact(double a, double b) { return elementary::pow(a, b); }
  static Vec slope_a(Vec a, Vec b, Vec f) { return b * f / a; }
  static Vec slope_b(Vec a, Vec, Vec f) { return f * log(a); }
  static double inverse_a(double wanted, double b) {
    return wanted >= 0.0 && b != 0.0 ? elementary::pow(wanted, 1.0 / b) : kNan;
  }
  static double inverse_b(double wanted, double a) {
    return a > 0.0 ? elementary::log(wanted) / elementary::log(a) : kNan;
  }
};
struct Min {
  static constexpr const char* name = "min";
  static constexpr int arity = 2, complexity = 4;
  static constexpr Action action = kAlike;
  static Vec value(Vec a, Vec b) { return choose(b < a, b, a); }
  static Vec slope_a(Vec a, Vec b, Vec) { return choose(b < a, splat(0.0), splat(1.0)); }
  static Vec slope_b(Vec a, Vec b, Vec) { return choose(b < a, splat(1.0), splat(0.0)); }
};
struct Max {
  static constexpr const char* name = "max";
  static constexpr int arity = 2, complexity = 4;
  static constexpr Action action = kAlike;
  static Vec value(Vec a, Vec b) { return choose(b > a, b, a); }
  static Vec slope_a(Vec a, Vec b, Vec) { return choose(b > a, splat(0.0), splat(1.0)); }
  static Vec slope_b(Vec a, Vec b, Vec) { return choose(b > a, splat(1.0), splat(0.0)); }
};
struct Sin {
  static constexpr const char* name = "sin";
  static constexpr int arity = 1, complexity = 3;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return sin(a); }
  static double exact(double a) { return elementary::sin(a); }
  static Vec slope(Vec a, Vec) { return cos(a); }
  static double inverse(double wanted) { return elementary::asin(wanted); }
};
struct Cos {
  static constexpr const char* name = "cos";
  static constexpr int arity = 1, complexity = 3;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return cos(a); }
  static double exact(double a) { return elementary::cos(a); }
  static Vec slope(Vec a, Vec) { return -sin(a); }
  static double inverse(double wanted) { return elementary::acos(wanted); }
};
struct Tan {
  static constexpr const char* name = "tan";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return tan(a); }
  static double exact(double a) { return elementary::tan(a); }
  static Vec slope(Vec, Vec f) { return 1.0 + f * f; }
  static double inverse(double wanted) { return elementary::atan(wanted); }
};
struct Exp {
  static constexpr const char* name = "exp";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return exp(a); }
  static double exact(double a) { return elementary::exp(a); }
  static Vec slope(Vec, Vec f) { return f; }
  static Vec inverse(Vec wanted) { return log(wanted); }
};
struct Log {
  static constexpr const char* name = "log";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return log(a); }
  static double exact(double a) { return elementary::log(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / a; }
  static Vec inverse(Vec wanted) { return exp(wanted); }
};
struct Sqrt {
  static constexpr const char* name = "sqrt";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = to_the(1, 2);
  static Vec value(Vec a) { return square_root(a); }
  static Vec slope(Vec, Vec f) { return 0.5 / f; }
  static Vec inverse(Vec wanted) { return choose(wanted < 0.0, splat(kNan), wanted * wanted); }
};
struct Square {
  static constexpr const char* name = "square";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = to_the(2);
  static Vec value(Vec a) { return a * a; }
  static Vec slope(Vec a, Vec) { return 2.0 * a; }
  static Vec inverse(Vec wanted) { return square_root(wanted); }
};
struct Cube {
  static constexpr const char* name = "cube";
  static constexpr int arity = 1, complexity = 3;
  static constexpr Action action = to_the(3);
  static Vec value(Vec a) { return a * a * a; }
  static Vec slope(Vec a, Vec) { return 3.0 * (a * a); }
  static double inverse(double wanted) { return elementary::cbrt(wanted); }
};
struct Quartic {
  static constexpr const char* name = "quartic";
  static constexpr int arity = 1, complexity = 3;
  static constexpr Action action = to_the(4);
  static Vec value(Vec a) { return (a * a) * (a * a); }
  static Vec slope(Vec a, Vec) { return 4.0 * (a * a * a); }
  static Vec inverse(Vec wanted) { return square_root(square_root(wanted)); }
};
struct Inv {
  static constexpr const char* name = "inv";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = to_the(-1);
  static Vec value(Vec a) { return 1.0 / a; }
  static Vec slope(Vec, Vec f) { return -(f * f); }
  static Vec inverse(Vec wanted) { return 1.0 / wanted; }
};
struct Neg {
  static constexpr const char* name = "neg";
  static constexpr int arity = 1, complexity = 1;
  static constexpr Action action = to_the(1);
  static Vec value(Vec a) { return -a; }
  static Vec slope(Vec, Vec) { return splat(-1.0); }
  static Vec inverse(Vec wanted) { return -wanted; }
};
struct Abs {
  static constexpr const char* name = "abs";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = to_the(1);
  static Vec value(Vec a) { return absolute(a); }
  static Vec slope(Vec a, Vec) { return choose(a < 0.0, splat(-1.0), choose(a > 0.0, splat(1.0), splat(0.0))); }
  static Vec inverse(Vec wanted) { return choose(wanted < 0.0, splat(kNan), wanted); }
};
struct Tanh {
  static constexpr const char* name = "tanh";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return tanh(a); }
  static Vec slope(Vec, Vec f) { return 1.0 - f * f; }
  static Vec inverse(Vec wanted) { return 0.5 * log((1.0 + wanted) / (1.0 - wanted)); }
};
struct Sigmoid {
  // exp(-a) may overflow or underflow where the value does neither.
  static constexpr bool hides_flags = true;
  static constexpr const char* name = "sigmoid";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return 1.0 / (1.0 + exp(-a)); }
  static double exact(double a) { return 1.0 / (1.0 + elementary::exp(-a)); }
  static Vec slope(Vec, Vec f) { return f * (1.0 - f); }
  static Vec inverse(Vec wanted) { return log(wanted / (1.0 - wanted)); }
};
struct Expneg {
  static constexpr const char* name = "expneg";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return exp(-a); }
  static double exact(double a) { return elementary::exp(-a); }
  static Vec slope(Vec, Vec f) { return -f; }
  static Vec inverse(Vec wanted) { return -log(wanted); }
};
struct Logabs {
  static constexpr const char* name = "logabs";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return log(absolute(a)); }
  static double exact(double a) { return elementary::log(a < 0.0 ? -a : a); }
  static Vec slope(Vec a, Vec) { return 1.0 / a; }
  static Vec inverse(Vec wanted) { return exp(wanted); }
};

// The structs in the order of their opcodes.
template <class None, class... Ops>
using Listed = std::tuple<Ops...>;
#define SYMSEED_AND(Op) , Op
using Operators = Listed<void SYMSEED_OPERATORS(SYMSEED_AND)>;
#undef SYMSEED_AND

}  // namespace symseed::SYMSEED_ISA

#endif
