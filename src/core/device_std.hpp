// The part of the standard library that the kernels use, for NVRTC, which has none. It stands in for every standard
// header.
#pragma once

namespace std {

using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using int32_t = int;
using int64_t = long long;
using size_t = decltype(sizeof(0));

using ::copysign;
using ::fabs;
using ::fmax;
using ::fmod;
using ::ldexp;
using ::memcpy;
using ::nearbyint;
using ::sqrt;
inline bool isinf(double x) { return ::isinf(x); }
inline bool signbit(double x) { return ::copysign(1.0, x) < 0.0; }

template <class To, class From>
constexpr To bit_cast(const From& value) {
  return __builtin_bit_cast(To, value);
}

template <class T>
struct numeric_limits {
  static constexpr T quiet_NaN() { return bit_cast<T>(uint64_t{0x7ff8000000000000u}); }
  static constexpr T infinity() { return bit_cast<T>(uint64_t{0x7ff0000000000000u}); }
};

template <class T, size_t Count>
struct array {
  T items[Count];
  constexpr T& operator[](size_t i) { return items[i]; }
  constexpr const T& operator[](size_t i) const { return items[i]; }
};

template <class...>
struct tuple;

}  // namespace std

using std::size_t;

inline double __builtin_sqrt(double x) { return ::sqrt(x); }
