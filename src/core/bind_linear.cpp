// Bindings of linear algebra, and of operators on whole arrays.
#include <algorithm>
#include <cmath>

#include "bind.hpp"
#include "elementary.hpp"
#include "linear.hpp"

namespace symseed {
namespace {

using AnyMatrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Vector = Array<double, 1>;

View view_of(const AnyMatrix& array) {
  return {array.data(), array.shape(0), array.shape(1), static_cast<std::ptrdiff_t>(array.stride(0)),
          static_cast<std::ptrdiff_t>(array.stride(1))};
}

using Named = std::optional<std::string>;

NewArray<double> bind_product(const AnyMatrix& a, const AnyMatrix& b, const Named& instruction_set) {
  require(a.shape(1) == b.shape(0), "The first factor must have as many columns as the second has rows.");
  const Matrix& kernels = *symseed::instruction_set(instruction_set).matrix;
  NewArray<double> out = new_numpy<double>({a.shape(0), b.shape(1)});
  run([&](Monitor& monitor) { product(kernels, view_of(a), view_of(b), out.data(), monitor); });
  return out;
}

NewArray<double> bind_dots(const Constants& rows, const Vector& vector, const Named& instruction_set) {
  require(rows.shape(1) == vector.shape(0), "Each row must be as long as the vector.");
  const Matrix& kernels = *symseed::instruction_set(instruction_set).matrix;
  NewArray<double> out = new_numpy<double>({rows.shape(0)});
  run([&](Monitor& monitor) {
    dots(kernels, rows.data(), vector.data(), rows.shape(0), rows.shape(1), out.data(), monitor);
  });
  return out;
}

void require_goal(const AnyMatrix& matrix, const Vector& goal) {
  require(matrix.shape(0) == goal.shape(0), "`goal` must have a number for each row of the matrix.");
}

NewArray<double> bind_least_squares(const AnyMatrix& matrix, const Vector& goal, double cutoff,
                                    const Named& instruction_set) {
  require_goal(matrix, goal);
  const Matrix& kernels = *symseed::instruction_set(instruction_set).matrix;
  std::vector<double> out;
  run([&](Monitor& monitor) { out = least_squares(kernels, view_of(matrix), goal.data(), cutoff, monitor); });
  return to_numpy(std::move(out));
}

nb::tuple bind_normal_solution(const AnyMatrix& matrix, const Vector& goal, const Named& instruction_set) {
  require_goal(matrix, goal);
  const Matrix& kernels = *symseed::instruction_set(instruction_set).matrix;
  NormalSolution out;
  run([&](Monitor& monitor) { out = normal_solution(kernels, view_of(matrix), goal.data(), monitor); });
  const std::size_t count = matrix.shape(1);
  return nb::make_tuple(to_numpy(std::move(out.solution)), to_numpy(std::move(out.inverse), {count, count}),
                        out.smallest);
}

NewArray<double> bind_leading_errors(const AnyMatrix& matrix, const Vector& goal, const Named& instruction_set) {
  require_goal(matrix, goal);
  const Matrix& kernels = *symseed::instruction_set(instruction_set).matrix;
  std::vector<double> out;
  run([&](Monitor& monitor) { out = leading_errors(kernels, view_of(matrix), goal.data(), monitor); });
  return to_numpy(std::move(out));
}

nb::tuple bind_smallest_direction(const AnyMatrix& matrix, const Named& instruction_set) {
  require(matrix.shape(1) > 0, "A direction needs a matrix with columns.");
  const Matrix& kernels = *symseed::instruction_set(instruction_set).matrix;
  SmallestDirection out;
  run([&](Monitor& monitor) { out = smallest_direction(kernels, view_of(matrix), monitor); });
  return nb::make_tuple(to_numpy(std::move(out.vector)), out.smallest, out.largest);
}

nb::tuple bind_symmetric_eigen(const AnyMatrix& matrix) {
  require(matrix.shape(0) == matrix.shape(1), "A symmetric matrix has as many rows as columns.");
  Eigen out;
  run([&](Monitor& monitor) { out = symmetric_eigen(view_of(matrix), monitor); });
  return nb::make_tuple(to_numpy(std::move(out.values)),
                        to_numpy(std::move(out.vectors), {matrix.shape(0), matrix.shape(0)}));
}

nb::tuple bind_roots(const Vector& coefficients) {
  require(coefficients.shape(0) > 0 && coefficients.data()[coefficients.shape(0) - 1] != 0.0,
          "The last coefficient must not be 0.");
  Roots out = roots(std::vector<double>(coefficients.data(), coefficients.data() + coefficients.shape(0)));
  return nb::make_tuple(to_numpy(std::move(out.real)), to_numpy(std::move(out.imaginary)));
}

NewArray<double> bind_elementwise(int opcode, const Vector& a, const Vector& b, const Named& instruction_set) {
  require(opcode >= 0 && opcode < kOperatorCount, "An opcode must be that of an operator.");
  require(a.shape(0) == b.shape(0), "Both arguments must have the same length.");
  const Kernels& kernels = *symseed::instruction_set(instruction_set).kernels;
  NewArray<double> out = new_numpy<double>({a.shape(0)});
  run([&](Monitor& monitor) { elementwise(kernels, opcode, a.data(), b.data(), out.data(), a.shape(0), monitor); });
  return out;
}

NewArray<std::int64_t> bind_smallest(const Constants& table, std::size_t count) {
  const std::size_t columns = table.shape(1);
  require(count <= columns, "`count` must be at most the number of columns.");
  NewArray<std::int64_t> out = new_numpy<std::int64_t>({table.shape(0), count});
  run([&](Monitor& monitor) {
    for (std::size_t i = 0; i < table.shape(0); ++i) {
      monitor.check();
      smallest(table.data() + i * columns, columns, count, out.data() + i * count);
    }
  });
  return out;
}

}  // namespace

void bind_linear(nb::module_& m) {
  m.def("product", &bind_product, "a"_array, "b"_array, nb::kw_only(), "instruction_set"_a = nb::none());
  m.def("dots", &bind_dots, "rows"_array, "vector"_array, nb::kw_only(), "instruction_set"_a = nb::none());
  m.def("least_squares", &bind_least_squares, "matrix"_array, "goal"_array, "cutoff"_a, nb::kw_only(),
        "instruction_set"_a = nb::none());
  m.def("normal_solution", &bind_normal_solution, "matrix"_array, "goal"_array, nb::kw_only(),
        "instruction_set"_a = nb::none());
  m.def("leading_errors", &bind_leading_errors, "matrix"_array, "goal"_array, nb::kw_only(),
        "instruction_set"_a = nb::none());
  m.def("smallest_direction", &bind_smallest_direction, "matrix"_array, nb::kw_only(),
        "instruction_set"_a = nb::none());
  m.def("symmetric_eigen", &bind_symmetric_eigen, "matrix"_array);
  m.def("roots", &bind_roots, "coefficients"_array);
  m.def("elementwise", &bind_elementwise, "opcode"_a, "a"_array, "b"_array, nb::kw_only(),
        "instruction_set"_a = nb::none());
  m.def("smallest", &bind_smallest, "table"_array, "count"_a);
  m.def("atan2", &elementary::atan2, "y"_a, "x"_a);
}

}  // namespace symseed
