"""The corpus that the network learns from: what is drawn is legal, in its family, and none of the catalogue's."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symseed.arrays import Floats

sys.path.insert(0, str(Path(__file__).parents[2] / "neural"))
import corpus
import forms

ADD, SUB, MUL, DIV, SQRT, SQUARE, CONST = (
    1 + corpus.SYMBOLS.index(name) for name in ("add", "sub", "mul", "div", "sqrt", "square", "const")
)
X, Y, Z = (1 + len(corpus.SYMBOLS) + place for place in range(3))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> corpus.Corpus:
    return corpus.Corpus.build(tmp_path_factory.mktemp("corpus"))


def form(built: corpus.Corpus, *ids: int) -> int:
    return built.form(ids)


@pytest.mark.parametrize(("columns", "rows"), [(1, 4), (2, 16), (4, 64), (9, 128)])
@pytest.mark.parametrize("for_validation", [False, True])
def test_formulas_are_complete_and_tables_finite(
    built: corpus.Corpus, columns: int, rows: int, for_validation: bool
) -> None:
    values, ids = built.draw(3, columns, rows, 24, for_validation=for_validation)
    assert np.isfinite(values).all()
    assert values.shape == (24, rows, columns + 1)
    for formula in ids:
        opened = 1
        for token in formula[formula > 0].tolist():
            assert opened > 0
            is_column = token > len(corpus.SYMBOLS)
            assert not is_column or token - len(corpus.SYMBOLS) <= columns
            opened += (0 if is_column else corpus.ARITY[token - 1]) - 1
        assert opened == 0
        own = form(built, *formula[formula > 0].tolist())
        assert bool(built.native.is_validation(own)) is for_validation
        assert own not in set(built.barred.tolist())


def value(ids: list[int], columns: Floats) -> Floats:
    """Evaluate a formula, and take what is used of it off the list."""
    token = ids.pop(0)
    if token > len(corpus.SYMBOLS):
        return columns[:, token - len(corpus.SYMBOLS) - 1]
    parts = [value(ids, columns) for _ in range(corpus.ARITY[token - 1])]
    name = corpus.SYMBOLS[token - 1]
    long = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide"}
    return np.asarray(getattr(np, long.get(name, name))(*parts))


def test_the_target_is_the_formula_up_to_scale_offset_and_noise(built: corpus.Corpus) -> None:
    values, ids = built.draw(5, 2, 256, 100)
    rows = [row for row in range(100) if CONST not in ids[row]]
    assert len(rows) > 20
    for row in rows:
        drawn = value(ids[row][ids[row] > 0].tolist(), values[row, :, :-1].astype(np.float64))
        fit = np.corrcoef(drawn, values[row, :, -1])[0, 1]
        assert abs(fit) > 0.5, corpus.text(
            ids[row]
        )  # the noise is at most a fifth of the values, which may lie far from 0


def test_the_same_seed_draws_the_same(built: corpus.Corpus) -> None:
    one, same, other = (built.draw(seed, 3, 32, 16) for seed in (1, 1, 2))
    assert (one[0] == same[0]).all()
    assert (one[1] == same[1]).all()
    assert (one[1] != other[1]).any()


def test_what_makes_no_difference_to_a_form(built: corpus.Corpus) -> None:
    assert form(built, ADD, X, Y) == form(built, ADD, Y, X)
    assert form(built, MUL, X, MUL, Y, Z) == form(built, MUL, MUL, Z, X, Y)
    assert form(built, DIV, X, MUL, Y, Z) == form(built, DIV, DIV, Y, X, Z)
    assert form(built, MUL, X, X) == form(built, SQUARE, Z)
    assert form(built, SUB, SQUARE, X, Y) == form(built, SUB, X, SQUARE, Y)
    assert form(built, MUL, CONST, X) == form(built, X)
    assert form(built, SQRT, SQUARE, X) == form(built, X)


def test_what_makes_a_difference_to_a_form(built: corpus.Corpus) -> None:
    forms = [
        form(built, *ids)
        for ids in [
            (X,),
            (ADD, X, Y),
            (SUB, X, Y),
            (MUL, X, Y),
            (DIV, X, Y),
            (ADD, X, CONST),
            (SQRT, X),
            (SQUARE, X),
            (ADD, MUL, X, Y, MUL, X, Z),
            (ADD, MUL, X, Y, Z),
        ]
    ]
    assert len(set(forms)) == len(forms)


def test_the_catalogue_is_left_out(built: corpus.Corpus) -> None:
    barred = set(built.barred.tolist())
    assert sorted(barred) == forms.barred(built), "python neural/forms.py"
    nguyen_1 = (ADD, MUL, X, SQUARE, X, ADD, SQUARE, X, X)
    coulomb = (DIV, DIV, DIV, MUL, CONST, MUL, Y, Z, X, X, X + 3)
    assert {form(built, *nguyen_1), form(built, *coulomb)} <= barred
    assert form(built, X) not in barred  # a + b x is no benchmark's own


def test_training_needs_nothing_of_symseed(built: corpus.Corpus, tmp_path: Path) -> None:
    """It runs where only PyTorch is installed, and there may be no compiler: then the generator is brought along."""
    folder = Path(corpus.__file__).parent
    for name in ("corpus.py", "model.py", "train.py"):
        assert "symseed" not in {
            node.module.partition(".")[0] if isinstance(node, ast.ImportFrom) and node.module else alias.name
            for node in ast.walk(ast.parse((folder / name).read_text()))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
    command = [sys.executable, "corpus.py", "--count", "2", "--build", str(tmp_path)]
    alone = {"PATH": str(tmp_path), "PYTHONPATH": ""}
    lacking = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    assert "There is no C++ compiler here" in lacking.stderr
    corpus.Corpus.build(tmp_path, is_portable=True)
    drawn = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=True)
    assert len(drawn.stdout.splitlines()) >= 1


def test_the_sizes_of_tables_are_those_of_the_plan(built: corpus.Corpus) -> None:
    stream = corpus.Stream(built, 5, numbers=2_000, threads=1)
    sizes = [next(stream)[0].shape for _ in range(60)]
    assert min(rows for _, rows, _ in sizes) < 20 < 192 <= max(rows for _, rows, _ in sizes)
    assert len({rows for _, rows, _ in sizes}) > 20
    assert {columns - 1 for _, _, columns in sizes} >= set(range(1, 8))
    assert sum(corpus.ROWS.values()) == pytest.approx(1.0)
    assert sum(corpus.COLUMNS) == pytest.approx(1.0)


def test_some_columns_have_even_steps(built: corpus.Corpus) -> None:
    values, _ = built.draw(11, 1, 64, 200)
    steps = np.diff(np.sort(values[:, :, 0].astype(np.float64), axis=1), axis=1)
    least = steps.min(axis=1) > 0.0
    even = np.median(np.abs(steps - np.median(steps, axis=1, keepdims=True)), axis=1) < 1e-4 * np.median(steps, axis=1)
    assert 0.05 < float(np.mean(even & least)) < 0.6
