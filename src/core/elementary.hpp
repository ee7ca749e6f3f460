// exp, log, sin, ... of one number of any size: for the arguments that the vector forms of math.hpp do not cover.
//
// The C library has several versions of these functions, chosen by the processor, whose last bits differ. These have
// one version. For arguments that the vector forms cover, both give the same value. IEEE 754 flags are raised as by the
// C library if a value is not finite, zero or subnormal; otherwise "inexact" and "underflow" have no meaning.
#pragma once

namespace symseed::elementary {

double exp(double x);
double expm1(double x);
double log(double x);
double log1p(double x);
double log2(double x);
double log10(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double atan2(double y, double x);
double sinh(double x);
double cosh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double erf(double x);
double gamma(double x);
// a - b floor(a / b), rounded once, with the sign of b.
double mod(double a, double b);
double hypot(double a, double b);
double cbrt(double x);
// Within 0.6 ulp; exact if the power is a float64.
double pow(double x, double y);

}  // namespace symseed::elementary
