// The operators: name, arity, complexity, action on dimensions, value and derivative of each. The one definition;
// Python reads this table.
//
// To add one: write its struct, and append its name to the list below. `value` works on vectors; if it gives NaN for
// arguments in the operator's domain, `exact` computes the value (elementary.hpp). `slope` is the partial derivative by
// each argument, given the arguments and the value. `inverse` is the argument that gives a desired value, on its
// principal branch, NaN if there is none (`inverse_a` and `inverse_b` also get the other argument); an operator
// without it has no inverse. Complexities are those of the authors' released code if it has the operator.
#pragma once

// Every operator by the name of its struct; its opcode is its index here. A macro, because the jump labels of
// kernels.cpp can only be made from text.
// clang-format off
#define SYMSEED_OPERATORS(X)                                                                                       \
  X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(Min) X(Max) X(Sin) X(Cos) X(Tan) X(Exp) X(Log) X(Sqrt) X(Square) X(Cube)    \
  X(Quartic) X(Inv) X(Neg) X(Abs) X(Tanh) X(Sigmoid) X(Expneg) X(Logabs) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh)   \
  X(Asinh) X(Acosh) X(Atanh) X(Log2) X(Log10) X(Log1p) X(Expm1) X(Cbrt) X(Erf) X(Gamma) X(Sign) X(Step) X(Relu)    \
  X(Floor) X(Ceil) X(Mod) X(Hypot) X(Atan2) X(Greater) X(Cond) X(Unless)
// clang-format on

namespace symseed {

#define SYMSEED_NAMED(Op) Op,
enum class Opcode : int { SYMSEED_OPERATORS(SYMSEED_NAMED) count };
#undef SYMSEED_NAMED

inline constexpr int kOperatorCount = static_cast<int>(Opcode::count);

}  // namespace symseed

// The structs, for files that are compiled per instruction set; all others need only the number of operators.
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
  static Vec value(Vec a, Vec b) { return quotient(a, b); }
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
  static Vec value(Vec a) { return quotient(splat(1.0), a); }
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
  // exp(-a) may overflow or underflow although the value does not.
  static constexpr bool hides_flags = true;
  static constexpr const char* name = "sigmoid";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return quotient(splat(1.0), 1.0 + exp(-a)); }
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
struct Asin {
  static constexpr const char* name = "asin";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return asin(a); }
  static double exact(double a) { return elementary::asin(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / square_root((1.0 - a) * (1.0 + a)); }
  static Vec inverse(Vec wanted) { return sin(wanted); }
};
struct Acos {
  static constexpr const char* name = "acos";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return acos(a); }
  static double exact(double a) { return elementary::acos(a); }
  static Vec slope(Vec a, Vec) { return -1.0 / square_root((1.0 - a) * (1.0 + a)); }
  static Vec inverse(Vec wanted) { return cos(wanted); }
};
struct Atan {
  static constexpr const char* name = "atan";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return atan(a); }
  static double exact(double a) { return elementary::atan(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / (1.0 + a * a); }
  static Vec inverse(Vec wanted) { return tan(wanted); }
};
struct Sinh {
  static constexpr const char* name = "sinh";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return sinh(a); }
  static double exact(double a) { return elementary::sinh(a); }
  static Vec slope(Vec, Vec f) { return square_root(1.0 + f * f); }
  static Vec inverse(Vec wanted) { return asinh(wanted); }
};
struct Cosh {
  static constexpr const char* name = "cosh";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return cosh(a); }
  static double exact(double a) { return elementary::cosh(a); }
  static Vec slope(Vec a, Vec) { return sinh(a); }
  static Vec inverse(Vec wanted) { return acosh(wanted); }
};
struct Asinh {
  static constexpr const char* name = "asinh";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return asinh(a); }
  static double exact(double a) { return elementary::asinh(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / square_root(1.0 + a * a); }
  static Vec inverse(Vec wanted) { return sinh(wanted); }
};
struct Acosh {
  static constexpr const char* name = "acosh";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return acosh(a); }
  static double exact(double a) { return elementary::acosh(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / square_root((a - 1.0) * (a + 1.0)); }
  static Vec inverse(Vec wanted) { return choose(wanted < 0.0, splat(kNan), cosh(wanted)); }
};
struct Atanh {
  static constexpr const char* name = "atanh";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return atanh(a); }
  static double exact(double a) { return elementary::atanh(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / ((1.0 - a) * (1.0 + a)); }
  static Vec inverse(Vec wanted) { return tanh(wanted); }
};
struct Log2 {
  static constexpr const char* name = "log2";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return log2(a); }
  static double exact(double a) { return elementary::log2(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / (kLn2 * a); }
  static Vec inverse(Vec wanted) { return exp(kLn2 * wanted); }
};
struct Log10 {
  static constexpr const char* name = "log10";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return log10(a); }
  static double exact(double a) { return elementary::log10(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / (kLn10 * a); }
  static Vec inverse(Vec wanted) { return exp(kLn10 * wanted); }
};
struct Log1p {
  static constexpr const char* name = "log1p";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return log1p(a); }
  static double exact(double a) { return elementary::log1p(a); }
  static Vec slope(Vec a, Vec) { return 1.0 / (1.0 + a); }
  static Vec inverse(Vec wanted) { return expm1(wanted); }
};
struct Expm1 {
  static constexpr const char* name = "expm1";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return expm1(a); }
  static double exact(double a) { return elementary::expm1(a); }
  static Vec slope(Vec, Vec f) { return f + 1.0; }
  static Vec inverse(Vec wanted) { return log1p(wanted); }
};
struct Cbrt {
  static constexpr const char* name = "cbrt";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = to_the(1, 3);
  static Vec value(Vec) { return splat(kNan); }
  static double exact(double a) { return elementary::cbrt(a); }
  static Vec slope(Vec, Vec f) { return 1.0 / (3.0 * (f * f)); }
  static Vec inverse(Vec wanted) { return wanted * wanted * wanted; }
};
struct Erf {
  static constexpr const char* name = "erf";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return erf(a); }
  static double exact(double a) { return elementary::erf(a); }
  static Vec slope(Vec a, Vec) { return 0x1.20dd750429b6dp+0 * exp(-(a * a)); }
};
struct Gamma {
  static constexpr const char* name = "gamma";
  static constexpr int arity = 1, complexity = 4;
  static constexpr Action action = kPure;
  static Vec value(Vec) { return splat(kNan); }
  static double exact(double a) { return elementary::gamma(a); }
  static Vec slope(Vec a, Vec f) { return f * digamma(a); }
};
struct Sign {
  static constexpr const char* name = "sign";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = kCompared;
  static Vec value(Vec a) { return choose(a < 0.0, splat(-1.0), choose(a > 0.0, splat(1.0), Vec{})); }
  static Vec slope(Vec, Vec) { return splat(0.0); }
};
struct Step {
  // 1 above 0, otherwise 0; 0 at 0.
  static constexpr const char* name = "step";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = kCompared;
  static Vec value(Vec a) { return choose(a > 0.0, splat(1.0), Vec{}); }
  static Vec slope(Vec, Vec) { return splat(0.0); }
};
struct Relu {
  static constexpr const char* name = "relu";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = to_the(1);
  static Vec value(Vec a) { return choose(a < 0.0, Vec{}, a); }
  static Vec slope(Vec a, Vec) { return choose(a > 0.0, splat(1.0), Vec{}); }
  static Vec inverse(Vec wanted) { return choose(wanted < 0.0, splat(kNan), wanted); }
};
struct Floor {
  static constexpr const char* name = "floor";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return floor(a); }
  static Vec slope(Vec, Vec) { return splat(0.0); }
};
struct Ceil {
  static constexpr const char* name = "ceil";
  static constexpr int arity = 1, complexity = 2;
  static constexpr Action action = kPure;
  static Vec value(Vec a) { return -floor(-a); }
  static Vec slope(Vec, Vec) { return splat(0.0); }
};
struct Mod {
  // a - b floor(a / b), with the sign of b.
  static constexpr const char* name = "mod";
  static constexpr int arity = 2, complexity = 4;
  static constexpr Action action = kAlike;
  static Vec value(Vec a, Vec b) { return modulo(a, b); }
  static double exact(double a, double b) { return elementary::mod(a, b); }
  static Vec slope_a(Vec, Vec, Vec) { return splat(1.0); }
  static Vec slope_b(Vec a, Vec b, Vec f) { return (f - a) / b; }
};
struct Hypot {
  static constexpr const char* name = "hypot";
  static constexpr int arity = 2, complexity = 4;
  static constexpr Action action = kAlike;
  static Vec value(Vec a, Vec b) { return hypot(a, b); }
  static double exact(double a, double b) { return elementary::hypot(a, b); }
  static Vec slope_a(Vec a, Vec, Vec f) { return a / f; }
  static Vec slope_b(Vec, Vec b, Vec f) { return b / f; }
  static Vec leg(Vec wanted, Vec other) {
    return choose(wanted < 0.0, splat(kNan), square_root((wanted - other) * (wanted + other)));
  }
  static Vec inverse_a(Vec wanted, Vec b) { return leg(wanted, b); }
  static Vec inverse_b(Vec wanted, Vec a) { return leg(wanted, a); }
};
struct Atan2 {
  // The angle of the point (b, a).
  static constexpr const char* name = "atan2";
  static constexpr int arity = 2, complexity = 4;
  static constexpr Action action = kCompared;
  static Vec value(Vec a, Vec b) { return atan2(a, b); }
  static double exact(double a, double b) { return elementary::atan2(a, b); }
  static Vec slope_a(Vec a, Vec b, Vec) { return b / (a * a + b * b); }
  static Vec slope_b(Vec a, Vec b, Vec) { return -a / (a * a + b * b); }
  static Vec inverse_a(Vec wanted, Vec b) { return b * tan(wanted); }
  static Vec inverse_b(Vec wanted, Vec a) { return a / tan(wanted); }
};
struct Greater {
  static constexpr const char* name = "greater";
  static constexpr int arity = 2, complexity = 2;
  static constexpr Action action = kCompared;
  static Vec value(Vec a, Vec b) { return choose(a > b, splat(1.0), Vec{}); }
  static Vec slope_a(Vec, Vec, Vec) { return splat(0.0); }
  static Vec slope_b(Vec, Vec, Vec) { return splat(0.0); }
};
struct Cond {
  // b if a is above 0, otherwise 0.
  static constexpr const char* name = "cond";
  static constexpr int arity = 2, complexity = 2;
  static constexpr Action action = kChosen;
  static Vec value(Vec a, Vec b) { return Step::value(a) * b; }
  static Vec slope_a(Vec, Vec, Vec) { return splat(0.0); }
  static Vec slope_b(Vec a, Vec, Vec) { return Step::value(a); }
};
struct Unless {
  // 0 if a is above 0, otherwise b.
  static constexpr const char* name = "unless";
  static constexpr int arity = 2, complexity = 2;
  static constexpr Action action = kChosen;
  static Vec value(Vec a, Vec b) { return (1.0 - Step::value(a)) * b; }
  static Vec slope_a(Vec, Vec, Vec) { return splat(0.0); }
  static Vec slope_b(Vec a, Vec, Vec) { return 1.0 - Step::value(a); }
};

// The structs in the order of their opcodes.
template <class None, class... Ops>
using Listed = std::tuple<Ops...>;
#define SYMSEED_AND(Op) , Op
using Operators = Listed<void SYMSEED_OPERATORS(SYMSEED_AND)>;
#undef SYMSEED_AND

}  // namespace symseed::SYMSEED_ISA

#endif
