// Reading an expression in prefix order: where a subtree ends, how deep it is.
#pragma once

#include "rows.hpp"

namespace symseed {

// One past the last position of the subtree that starts at `start`.
inline int subtree_end(const std::uint8_t* arity, const Token* tokens, int start) {
  int position = start;
  for (int open = 1; open > 0; ++position) open += arity[tokens[position]] - 1;
  return position;
}

// Whether the first `length` tokens are exactly one expression.
inline bool is_expression(const std::uint8_t* arity, const Token* tokens, int length) {
  int open = 1;
  for (int position = 0; position < length; ++position) {
    if (open == 0) return false;
    open += arity[tokens[position]] - 1;
  }
  return length > 0 && open == 0;
}

}  // namespace symseed
