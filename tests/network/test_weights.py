"""The file of a network: what is written is read, and nothing else is taken for a network."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import SMALL, random_network
from safetensors.numpy import load, save

from symseed import Library
from symseed.errors import DataError
from symseed.network import Network, Shape


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    network = random_network(SMALL)
    network.save(tmp_path / "network.safetensors")
    found = Network.load(tmp_path / "network.safetensors")
    assert (found.shape, found.tokens, found.training) == (network.shape, network.tokens, network.training)
    for name, block in network.parameters.items():
        np.testing.assert_allclose(found.parameters[name], block, rtol=1e-3, atol=1e-6)


def changed(path: Path, **arrays: Any) -> Path:
    random_network(SMALL).save(path)
    content = load(path.read_bytes())
    for name, array in arrays.items():
        if array is None:
            del content[name]
        else:
            content[name] = array
    path.write_bytes(save(content))
    return path


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"norm": None}, "the block `norm`|block `norm`.*missing"),
        ({"norm": np.ones((1, 16), dtype=np.float16)}, r"block `norm` must have the shape \(1, 32\)"),
        ({"norm": np.full((1, 32), np.inf, dtype=np.float16)}, "not finite"),
        ({"shape": None}, "lacks, or has a wrong"),
        ({"shape": np.array([1, 2], dtype=np.int64)}, "lacks, or has a wrong"),
        ({"shape": np.array([33, 2, 1, 3, 1, 2, 12, 4], dtype=np.int64)}, "impossible shape"),
        ({"shape": np.array([32, 2, 2**40, 3, 1, 2, 12, 4], dtype=np.int64)}, "impossible shape"),
        ({"shape": np.array([32, 2, 1, 3, 1, 2, 12, 5], dtype=np.int64)}, "must know 5 different tokens"),
        ({"tokens": np.frombuffer(b"add mul sin evil", dtype=np.uint8)}, "must know 4 different tokens"),
        ({"tokens": np.frombuffer(b"add mul sin sin", dtype=np.uint8)}, "must know 4 different tokens"),
        ({"tokens": np.array([0.5])}, "lacks, or has a wrong"),
        ({"training": np.array([255, 254], dtype=np.uint8)}, "lacks, or has a wrong"),
    ],
)
def test_a_wrong_file_gets_a_sentence(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    path = changed(tmp_path / "network.safetensors", **arrays)
    with pytest.raises(DataError, match=sentence) as raised:
        Network.load(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"not a network", b"\xff" * 100, b'\x10\x00\x00\x00\x00\x00\x00\x00{"a":1}'])
def test_anything_else_gets_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "network.safetensors"
    path.write_bytes(content)
    with pytest.raises(DataError, match="must be the file of a network"):
        Network.load(path)


def test_a_missing_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Network.load(tmp_path / "nothing")
    with pytest.raises(DataError, match="cannot be read"):
        Network.load(tmp_path)


def test_sizes_of_the_shape_are_those_of_the_core() -> None:
    names = {name for name, _, _ in dataclasses.replace(Shape(), grid_layers=1).native().blocks()}
    assert "grid.0.rows.query" in names
    assert "grid.1.rows.query" not in names


def test_a_number_alone_is_the_constant_of_a_library_without_one() -> None:
    network = random_network(SMALL)
    known = network.tokens.index("const")
    one, two = (Library.of(["add", *numbers], 1) for numbers in ([1.0], [1.0, 2.0]))
    assert list(network.spoken(one, [0])).count(known) == 1
    assert known not in network.spoken(two, [0])
    assert list(network.spoken(one.with_constant(), [0])).count(known) == 1
