"""Networks of random parameters, for tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from symseed import Library
from symseed.network import Network, Shape

TOKENS = ("add", "mul", "sin", "const")
LIBRARY = Library.of(["add", "mul", "sin", "const"], 3)
"""Its tokens are those that the networks know, and three columns."""


def random_network(shape: Shape, seed: int = 0, tokens: tuple[str, ...] = TOKENS) -> Network:
    """Return a network with parameters large enough for everything in it to matter."""
    rng = np.random.default_rng(seed)
    parameters: dict[str, npt.NDArray[np.float32]] = {}
    for name, rows, columns in shape.native().blocks():
        size = 1.0 / np.sqrt(max(rows, 4)) if rows > 1 else 0.3
        block = size * rng.normal(size=(rows, columns))
        parameters[name] = (block + 1.0 if name.endswith("norm") else block).astype(np.float32)
    return Network(shape, tokens, parameters, "none: random numbers")


SMALL = Shape(
    width=32, heads=2, grid_layers=1, latents=3, latent_layers=1, decoder_layers=2, longest=12, symbols=len(TOKENS)
)
