// Structure of an expression in prefix order: where subtrees end, and where the constants are.
#pragma once

#include <vector>

#include "rows.hpp"

namespace symseed {

// One past the last position of the subtree that starts at `start`.
inline int subtree_end(const std::uint8_t* arity, const Token* tokens, int start) {
  int position = start;
  for (int open = 1; open > 0; ++position) open += arity[tokens[position]] - 1;
  return position;
}

// The same for every subtree, in one pass.
inline void subtree_ends(const std::uint8_t* arity, const Token* tokens, int length, int* ends) {
  for (int position = length; position-- > 0;) {
    int end = position + 1;
    for (int argument = 0; argument < arity[tokens[position]]; ++argument) end = ends[end];
    ends[position] = end;
  }
}

// The position of an operator's last argument: its second, or its only one.
inline int last_argument(const int* ends, int position, int arity) {
  return arity == 2 ? ends[position + 1] : position + 1;
}

// Calls visit(position) for the constants of a row.
template <class Visit>
void for_each_constant(const Vocabulary& vocabulary, Row row, Visit visit) {
  for (int position = 0; position < row.length; ++position) {
    if (vocabulary.kind[row.tokens[position]] == kConstant) visit(position);
  }
}

// The positions of a row's constants.
inline std::vector<int> constant_places(const Vocabulary& vocabulary, Row row) {
  std::vector<int> places;
  for_each_constant(vocabulary, row, [&](int position) { places.push_back(position); });
  return places;
}

}  // namespace symseed
