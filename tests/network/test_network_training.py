"""The training: it stops and goes on, and what it exports is what PyTorch computes. Skipped without PyTorch."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import Dataset, Library, SearchSpace
from symseed.network import Network, Reading

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
sys.path.insert(0, str(Path(__file__).parents[2] / "neural"))
corpus, export, model, train = map(importlib.import_module, ("corpus", "export", "model", "train"))

SMALL = model.Shape(width=32, heads=2, grid_layers=1, latents=2, latent_layers=1, decoder_layers=1)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that share a busy core wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    built = corpus.Corpus.build(tmp_path_factory.mktemp("corpus"))
    return [built.draw(seed, 2, 16, 16) for seed in range(4)]


def test_a_training_that_stopped_goes_on_as_it_would_have(batches: list[Any], tmp_path: Path) -> None:
    whole = train.Trainer(SMALL, "cpu", 1)
    for batch in batches[:3]:
        whole.step([batch], 1e-3)
    whole.save(tmp_path)
    other = train.Trainer(SMALL, "cpu", 1)
    other.load(tmp_path)
    assert other.progress == whole.progress
    assert float(whole.optimiser.state[whole.copies[0]]["exp_avg_sq"].max()) > 0.0
    for one, same in zip(whole.copies, other.copies, strict=True):
        for name in ("exp_avg", "exp_avg_sq"):
            own, found = whole.optimiser.state[one][name], other.optimiser.state[same][name]
            torch.testing.assert_close(found, own, rtol=3e-3, atol=2e-11)
            assert float((found == 0.0).float().mean()) < 0.05 + float((own == 0.0).float().mean())
    losses = [float(trainer.step([batches[3]], 1e-3)[0]) for trainer in (whole, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    for one, same in zip(whole.copies, other.copies, strict=True):
        torch.testing.assert_close(same, one, rtol=2e-3, atol=1e-4)
    with pytest.raises(SystemExit, match="another shape or seed"):
        train.Trainer(SMALL, "cpu", 2).load(tmp_path)


def test_a_training_goes_on_from_weights_that_ship_and_their_log(batches: list[Any], tmp_path: Path) -> None:
    first = train.Trainer(SMALL, "cpu", 1)
    for batch in batches[:2]:
        first.step([batch], 1e-2)
    first.save(tmp_path)
    export.network(tmp_path, "0123abc").save(tmp_path / "own.safetensors")
    (tmp_path / "log.jsonl").write_text('{"steps": 700, "batches": 900, "tables": 32, "seconds": 60.0, "loss": 1.0}\n')
    other = train.Trainer(SMALL, "cpu", 1)
    other.begin_with(tmp_path / "own.safetensors", tmp_path / "log.jsonl")
    for average, copy, weight in zip(first.averages, other.copies, other.weights, strict=True):
        torch.testing.assert_close(copy, average, rtol=1e-3, atol=1e-6)
        torch.testing.assert_close(weight.float(), copy)
    assert (other.progress.steps, other.progress.batches, other.progress.tables) == (700, 900, 32)
    assert train.rate(other.progress, 1e6) == pytest.approx(train.PEAK / train.WARM), "the rate rises anew"
    other.step([batches[2]], 1e-3)
    other.save(tmp_path)
    again = train.Trainer(SMALL, "cpu", 1)
    again.load(tmp_path)
    assert again.progress == other.progress
    assert float(again.optimiser.state[again.copies[0]]["step"]) == 1.0


def test_it_learns(batches: list[Any]) -> None:
    trainer = train.Trainer(SMALL, "cpu", 0)
    losses = [float(trainer.step([batches[0]], 3e-3)[0]) for _ in range(15)]
    assert losses[-1] < 0.95 * losses[0]


def test_what_is_exported_is_what_pytorch_computes(batches: list[Any], tmp_path: Path) -> None:
    trainer = train.Trainer(SMALL, "cpu", 1)
    for batch in batches[:2]:
        trainer.step([batch], 1e-2)
    trainer.save(tmp_path)
    export.network(tmp_path, "0123abc").save(tmp_path / "own.safetensors")
    network = Network.load(tmp_path / "own.safetensors")
    assert network.training.startswith("commit 0123abc, seed 1, 32 tables")
    reader = model.Reader(SMALL, list(corpus.ARITY))
    with torch.no_grad():
        for own, kept in zip(reader.parameters(), trainer.averages, strict=True):
            own.copy_(kept.half().float())
    values, _ = batches[0]
    data = Dataset.of(values[0, :, :2].astype(np.float64), values[0, :, 2].astype(np.float64))
    library = Library.of([*corpus.SYMBOLS], 2)
    reading = Reading(network, data, seed=0)
    space = SearchSpace(library, 1, corpus.LONGEST, ())
    drawn, _ = reading.sample(space, 12, seed=0, step=0)
    assert drawn is not None
    spoken = network.spoken(library, range(2))
    wide = SearchSpace(library, 1, 40, ())  # in which nothing is forbidden to formulas that are shorter
    for row, found in zip(drawn.rows, reading.log_probability(wide, drawn), strict=True):
        tokens = torch.from_numpy(spoken[list(row.ids)].astype(np.int64) + 1)[None]
        with torch.no_grad():
            nats = float(reader(torch.from_numpy(values[:1]), tokens).sum())
        assert found == pytest.approx(-nats, abs=2e-3)
