"""The file of a network, as safetensors: its header and its arrays, damaged by a few bytes; read or refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import hostile
from damage import damaged
from symseed.network import Network, Shape

_FILE = Path(tempfile.mkdtemp(prefix="symseed-fuzz-")) / "network"
_SHAPE = Shape(width=16, heads=1, grid_layers=1, latents=1, latent_layers=1, decoder_layers=1, longest=4, symbols=2)


def _good() -> bytes:
    blocks = {name: np.zeros((rows, columns), np.float32) for name, rows, columns in _SHAPE.native().blocks()}
    Network(_SHAPE, ("add", "const"), blocks, "none").save(_FILE)
    return _FILE.read_bytes()


_GOOD = _good()


def one(data: bytes) -> None:
    """Load a damaged file."""
    _FILE.write_bytes(damaged(_GOOD, [b"", _GOOD[8:]], data))
    with hostile.may_refuse():
        Network.load(_FILE).native.read(np.ones((3, 2)))
