"""Formulas as objects that compute: a NumPy function, a PyTorch module, an ONNX model.

M rows, V columns of the data. PyTorch and ONNX are imported at their first use. Like the texts of `source`, their
graphs continue with IEEE values where `Expression.evaluate` gives NaN: an infinity may vanish (1 / inf), a NaN may
not.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed.arrays import floats
from symseed.errors import DataError, SettingsError
from symseed.export.libraries import Tensor, onnx_operators, torch_operators
from symseed.export.source import check, variables
from symseed.language.expression import Expression
from symseed.language.tokens import TokenKind
from symseed.text import for_comment

_OPSET = 17
"""Version of the ONNX operators."""
_IR_VERSION = 8  # the oldest with this opset, for older readers


@dataclass(frozen=True, slots=True)
class NumpyFunction:
    """A formula as a function of arrays, one for each variable that occurs, in the order of their columns."""

    expression: Expression

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in the order of the arguments."""
        return tuple(token.name for token in variables(self.expression))

    def __call__(self, *arguments: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the values, of the shape to which the arguments broadcast; NaN if a value is not finite."""
        used = variables(self.expression)
        if len(arguments) != len(used):
            raise DataError(
                f"Expected {len(used)} arrays, for {', '.join(self.names) or 'no variables'}, "
                f"but {len(arguments)} were given."
            )
        shape = np.broadcast_shapes(*map(np.shape, arguments))
        columns = 1 + max((token.column for token in self.expression.library.variables), default=-1)
        table = np.zeros((*shape, columns))
        for token, array in zip(used, arguments, strict=True):
            table[..., token.column] = floats(array, token.name).reshape(np.shape(array))
        return self.expression.evaluate(table.reshape(math.prod(shape), columns)).reshape(shape)


def to_numpy(expression: Expression) -> NumpyFunction:
    """Return a formula as a function of NumPy arrays, with the same values as in a search. It can be pickled."""
    return NumpyFunction(expression)


def to_torch(expression: Expression, *, dtype: Tensor = None) -> Tensor:
    """Return a formula as a `torch.nn.Module` from `(..., V)` to `(...,)`, with the data's columns in their order.

    Its fitted constants are the parameter `constants`, in the order of the formula, so that they can be trained
    further; literals stay fixed. A constant exponent has no gradient (NaN) where its base is negative.

    Args:
        expression: the formula.
        dtype: type of the constants and of all values; None: float64.

    Raises:
        SettingsError: if PyTorch is not installed, or an operator has no form in it.
    """
    torch = _installed("torch", "PyTorch")
    operators = torch_operators(torch)
    expression = expression.expanded()
    check(expression, operators, "PyTorch")
    chosen = torch.float64 if dtype is None else dtype

    class Formula(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A formula found by symseed."""

        def __init__(self) -> None:
            super().__init__()
            fitted = [
                value
                for token, value in zip(expression.tokens, expression.constants, strict=True)
                if token.kind is TokenKind.CONSTANT
            ]
            self.constants = torch.nn.Parameter(torch.tensor(fitted, dtype=chosen))

        def forward(self, x: Tensor) -> Tensor:
            x = x.to(self.constants.dtype)
            constants = list(self.constants)
            waiting: list[Tensor] = []
            for token in reversed(expression.tokens):
                if token.kind is TokenKind.VARIABLE:
                    waiting.append(x[..., token.column])
                elif token.kind is TokenKind.CONSTANT:
                    waiting.append(constants.pop())
                elif token.kind is TokenKind.LITERAL:
                    waiting.append(torch.full((), token.value, dtype=x.dtype, device=x.device))
                else:
                    waiting.append(operators[token.name](*(waiting.pop() for _ in range(token.arity))))
            return waiting[0].expand(x.shape[:-1])

        def extra_repr(self) -> str:
            return str(expression)

        def __reduce__(self) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
            # A class made in a function cannot be pickled by name; the formula and the constants suffice.
            return _restored, (expression, self.constants)

    return Formula()


def _restored(expression: Expression, constants: Tensor) -> Tensor:
    module = to_torch(expression, dtype=constants.dtype)
    module.constants = constants
    return module


class _Graph:
    """An ONNX graph under construction; values are referred to by name."""

    def __init__(self, onnx: Any) -> None:
        self._make, self._types = onnx.helper, onnx.TensorProto
        self.double: int = self._types.DOUBLE
        self.nodes: list[Tensor] = []
        self.numbers: list[Tensor] = []

    def __call__(self, kind: str, *inputs: str, output: str = "", **attributes: int) -> str:
        """Add a node, by ONNX's name for its operator; return the name of its output."""
        name = output or f"t{len(self.nodes) + 1}"
        self.nodes.append(self._make.make_node(kind, inputs, [name], **attributes))
        return name

    def number(self, value: float) -> str:
        """Add a number: an index if it is an int."""
        kind = self._types.INT64 if isinstance(value, int) else self._types.DOUBLE
        self.numbers.append(self._make.make_tensor(f"c{len(self.numbers) + 1}", kind, (), [value]))
        return str(self.numbers[-1].name)


def to_onnx(expression: Expression, columns: int | None = None) -> Tensor:
    """Return a formula as an ONNX model of float64, opset 17: its input `X` is `(M, V)`, its output `y` is `(M,)`.

    V is `columns`, or the number of columns of the formula's library; the documentation of `X` lists the columns. The
    formula's numbers are initializers.

    Raises:
        SettingsError: if `onnx` is not installed, or an operator has no form in it.
    """
    onnx = _installed("onnx", "ONNX")
    expression = expression.expanded()
    graph = _Graph(onnx)
    operators = onnx_operators(graph)
    check(expression, operators, "ONNX")
    waiting: list[str] = []
    for token, value in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
        if token.kind is TokenKind.VARIABLE:
            waiting.append(graph("Gather", "X", graph.number(token.column), axis=1))
        elif token.arity == 0:
            waiting.append(graph.number(float(value if token.kind is TokenKind.CONSTANT else token.value)))
        else:
            waiting.append(operators[token.name](*(waiting.pop() for _ in range(token.arity))))
    # A formula without variables has as many values as there are rows.
    graph("Expand", waiting[0], graph("Shape", "X", start=0, end=1), output="y")

    make, double = onnx.helper, onnx.TensorProto.DOUBLE
    names = expression.library.variables
    width = columns or 1 + max((token.column for token in names), default=-1)
    legend = "\n".join(f"column {token.column + 1}: {for_comment(token.name)}" for token in names)
    built = make.make_graph(
        graph.nodes,
        "formula",
        [make.make_tensor_value_info("X", double, ["M", width], doc_string=legend)],
        [make.make_tensor_value_info("y", double, ["M"])],
        initializer=graph.numbers,
    )
    model = make.make_model(built, opset_imports=[make.make_opsetid("", _OPSET)], producer_name="symseed")
    model.ir_version = _IR_VERSION
    onnx.checker.check_model(model)
    return model


def _installed(package: str, title: str) -> Any:
    """Import a package that is not a dependency."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise SettingsError(
            f"This export needs {title}, but `{package}` is not installed. Install it: pip install {package}."
        ) from None
