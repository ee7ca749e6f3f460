// Reading an expression in prefix order: where a subtree ends.
#pragma once

#include "rows.hpp"

namespace symseed {

// One past the last position of the subtree that starts at `start`.
inline int subtree_end(const std::uint8_t* arity, const Token* tokens, int start) {
  int position = start;
  for (int open = 1; open > 0; ++position) open += arity[tokens[position]] - 1;
  return position;
}

}  // namespace symseed
