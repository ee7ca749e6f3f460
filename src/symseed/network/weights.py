"""The file of a network: its shape, its tokens, what its training was, and its parameters, as safetensors.

Nothing in the file is code: arrays are read with their shapes and numbers checked.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from symseed import _core, files
from symseed.errors import DataError
from symseed.language.library import Library
from symseed.language.tokens import CONSTANT_NAME as CONSTANT
from symseed.language.tokens import OPERATORS, Token, TokenKind

_MOST_BYTES = 2**28
"""Largest file that is read: far above the usual size, chosen by hand."""
SHIPPED = "network.safetensors"
"""The file in this folder that ships; `neural/` in the repository made it."""
_SHAPE, _TOKENS, _TRAINING = "shape", "tokens", "training"
"""Names of the arrays that are no parameters: numbers, and two texts as bytes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network; `src/core/reader.hpp` says what each is."""

    width: int = 192
    heads: int = 6
    grid_layers: int = 3
    latents: int = 12
    latent_layers: int = 3
    decoder_layers: int = 4
    longest: int = 32
    symbols: int = 11

    def native(self) -> _core.Reader:
        """Return a native network of this shape, without parameters.

        Raises:
            ValueError: if a size is out of range.
        """
        return _core.Reader.of(
            width=self.width,
            heads=self.heads,
            grid_layers=self.grid_layers,
            latents=self.latents,
            latent_layers=self.latent_layers,
            decoder_layers=self.decoder_layers,
            longest=self.longest,
            symbols=self.symbols,
        )


@dataclass(frozen=True, eq=False)
class Network:
    """A trained network."""

    shape: Shape
    tokens: tuple[str, ...]
    """The names of the tokens that it knows, besides variables: operators, and `CONSTANT`."""
    parameters: Mapping[str, npt.NDArray[np.float32]]
    """By the names of `_core.Reader.blocks`."""
    training: str = ""
    """What its training was, as text: commit, seed, formulas, minutes."""
    native: _core.Reader = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Hand the parameters to the native network.

        Raises:
            DataError: if something does not fit the shape.
        """
        try:
            native = self.shape.native()
        except (ValueError, TypeError, OverflowError) as error:
            raise DataError(f"The network has an impossible shape: {error}") from error
        unknown = [name for name in self.tokens if name not in _KNOWN]
        if unknown or len(set(self.tokens)) != len(self.tokens) or len(self.tokens) != self.shape.symbols:
            raise DataError(
                f"The network must know {self.shape.symbols} different tokens, operators or `{CONSTANT}`, but they are "
                f"{', '.join(self.tokens)[:200]}."
            )
        values = []
        for name, rows, columns in native.blocks():
            block = self.parameters.get(name)
            if block is None or block.shape != (rows, columns):
                found = "it is missing" if block is None else f"its shape is {block.shape}"
                raise DataError(f"The network's block `{name}` must have the shape {(rows, columns)}, but {found}.")
            values.append(np.asarray(block, dtype=np.float32).ravel())
        flat = np.concatenate(values)
        if not np.isfinite(flat).all():
            raise DataError("The network has parameters that are not finite.")
        native.assign(flat)
        object.__setattr__(self, "native", native)

    @staticmethod
    def shipped() -> Network | None:
        """Return the network that ships with symseed; None if its file is missing."""
        return _shipped()

    @functools.cached_property
    def checksum(self) -> str:
        """A hash of all that decides what the network gives."""
        digest = hashlib.sha256(repr((astuple(self.shape), self.tokens)).encode())
        for name, _, _ in self.native.blocks():
            digest.update(np.ascontiguousarray(self.parameters[name], dtype="<f4").tobytes())
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the native network, for workers."""
        return Network, (self.shape, self.tokens, dict(self.parameters), self.training)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Network:
        """Read the file of a network.

        Raises:
            DataError: if it cannot be read, or is not the file of a network.
        """
        try:
            arrays = load(files.read(Path(path).resolve(), _MOST_BYTES))
        except (OSError, SafetensorError, ValueError, TypeError) as error:
            raise DataError(f"`{path}` must be the file of a network, but it cannot be read: {error}") from error
        try:
            return cls(
                _shape(arrays.pop(_SHAPE)),
                tuple(_text(arrays.pop(_TOKENS)).split()),
                {name: array.astype(np.float32) for name, array in arrays.items() if name != _TRAINING},
                _text(arrays[_TRAINING]),
            )
        except (KeyError, ValueError) as error:
            raise DataError(
                f"`{path}` must be the file of a network, but it lacks, or has a wrong, {error}."
            ) from error
        except DataError as error:
            raise DataError(f"`{path}` cannot be used. {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, with numbers of 16 bits."""
        arrays: dict[str, npt.NDArray[Any]] = {
            name: np.ascontiguousarray(array, dtype=np.float16) for name, array in self.parameters.items()
        }
        arrays[_SHAPE] = np.array(astuple(self.shape), dtype=np.int64)
        arrays[_TOKENS] = _bytes(" ".join(self.tokens))
        arrays[_TRAINING] = _bytes(self.training)
        files.replace(Path(path), save(arrays))

    def knows(self, library: Library) -> bool:
        """Return whether it knows all operators of a library."""
        return all(token.name in self.tokens for token in library.tokens if token.kind is TokenKind.OPERATOR)

    def spoken(self, library: Library, columns: Sequence[int]) -> npt.NDArray[np.int32]:
        """Return what the network gives for each token of a library, (T,): a symbol, a column that it reads, or -1.

        Where a library has no fitted constant but one number, such as 1, that number is its constant.

        Args:
            columns: the columns that it reads, in their order.
        """
        symbols = {name: place for place, name in enumerate(self.tokens)}
        places = {column: len(self.tokens) + place for place, column in enumerate(columns)}
        numbers = [token for token in library.tokens if token.kind in (TokenKind.CONSTANT, TokenKind.LITERAL)]
        only = numbers[0] if len(numbers) == 1 else None

        def of(token: Token) -> int:
            if token.kind is TokenKind.VARIABLE:
                return places.get(token.column, -1)
            if token.kind is TokenKind.CONSTANT or token is only:
                return symbols.get(CONSTANT, -1)
            return symbols.get(token.name, -1) if token.kind is TokenKind.OPERATOR else -1

        return np.array([of(token) for token in library.tokens], dtype=np.int32)


@functools.cache
def _shipped() -> Network | None:
    path = Path(__file__).with_name(SHIPPED)
    return Network.load(path) if path.exists() else None


_KNOWN = frozenset({*OPERATORS, CONSTANT})


def _shape(array: npt.NDArray[Any]) -> Shape:
    if array.shape != (len(astuple(Shape())),) or array.dtype.kind != "i":
        raise ValueError(_SHAPE)
    return Shape(*(int(value) for value in array))


def _bytes(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode() or b" ", dtype=np.uint8)


def _text(array: npt.NDArray[Any]) -> str:
    if array.dtype != np.uint8:
        raise ValueError(f"text of {array.dtype}")
    return array.tobytes().decode().strip()
