"""The native module refuses arguments that it cannot read, whoever passes them, and never crashes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symseed import Dataset, Expression, Library, Population, _core, predict
from symseed.scoring import FitMethod, Validity

LEVENBERG = FitMethod.LEVENBERG_MARQUARDT

CORE: Any = _core
"""The module without its types, for calls that are wrong on purpose."""
LIBRARY = Library.of(["add", "sin", "const"], 2)
X1, X2, ADD, SIN, CONST = range(5)
T = len(LIBRARY)


def samples(variables: int = 2) -> _core.Samples:
    return _core.Samples(np.ones((5, variables)), np.ones(5), np.ones(5))


def rows(**changes: Any) -> list[Any]:
    """Return tokens, lengths and constants of two good rows, some of them replaced."""
    good: dict[str, Any] = {
        "tokens": np.array([[ADD, X1, X2, 65535], [SIN, CONST, 65535, 65535]], dtype=np.uint16),
        "lengths": np.array([3, 2], dtype=np.int32),
        "constants": np.array([[np.nan] * 4, [np.nan, 2.0, np.nan, np.nan]]),
    }
    return list({**good, **changes}.values())


def rules(**changes: Any) -> _core.Rules:
    good: dict[str, Any] = {
        "vocabulary": LIBRARY.vocabulary,
        "min_length": 1,
        "max_length": 20,
        "rules": [],
        "bias": np.zeros(T),
        "soft_location": 0.0,
        "soft_variance": 0.0,
    }
    return _core.Rules(**{**good, **changes})


def settings(**changes: Any) -> _core.VarySettings:
    good: dict[str, Any] = {
        "crossover": 0.5,
        "mutation": 0.5,
        "tournament": 2,
        "new_depth": 2,
        "retries": 0,
        "weights": [1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
        "any_parent": False,
    }
    return _core.VarySettings(**{**good, **changes})


How = dict[str, Any]
TAKERS: dict[str, Callable[..., Any]] = {
    "squared_errors": lambda *r, **how: _core.squared_errors(LIBRARY.vocabulary, samples(), *r, **how),
    "predictions": lambda *r, **how: _core.predictions(LIBRARY.vocabulary, samples(), *r, **how),
    "fit_constants": lambda *r, **how: _core.fit_constants(
        LIBRARY.vocabulary, samples(), *r, method=LEVENBERG, iterations=2, restarts=0, seed=0, **how
    ),
    "score": lambda *r, **how: CORE.Cache(2000, 2).score(
        LIBRARY.vocabulary, samples(), *r, fit=(2, 0, 0, LEVENBERG), **how
    ),
}
"""What takes rows, and how to work."""
CHANGERS: dict[str, Callable[..., Any]] = {
    "fingerprints": lambda *r: _core.fingerprints(LIBRARY.vocabulary, *r),
    "crossover": lambda *r: CORE.crossover(rules(), *r, settings(), 0, 0),
    "mutate": lambda *r: CORE.mutate(rules(), *r, _core.Mutation.SUBTREE, settings(), 0, 0),
    "next_generation": lambda *r: CORE.next_generation(rules(), *r, np.zeros(2), settings(), 0, 0),
}
"""What takes rows alone."""
EVERY: dict[str, Callable[..., Any]] = {
    **{name: lambda *r, call=call: call(*r, validity=Validity.VALUES, threads=1) for name, call in TAKERS.items()},
    **CHANGERS,
}

BAD_ROWS: dict[str, dict[str, Any]] = {
    "an unknown token": {"tokens": np.array([[ADD, X1, T, 0], [SIN, CONST, 0, 0]], dtype=np.uint16)},
    "padding inside a row": {"tokens": np.array([[ADD, X1, 65535, 0], [SIN, CONST, 0, 0]], dtype=np.uint16)},
    "an incomplete row": {"tokens": np.array([[ADD, X1, SIN, 0], [SIN, CONST, 0, 0]], dtype=np.uint16)},
    "a row that goes on": {"tokens": np.array([[X1, X1, X1, 0], [SIN, CONST, 0, 0]], dtype=np.uint16)},
    "a length of 0": {"lengths": np.array([0, 2], dtype=np.int32)},
    "a negative length": {"lengths": np.array([3, -2], dtype=np.int32)},
    "a length beyond L": {"lengths": np.array([3, 5], dtype=np.int32)},
    "the largest length": {"lengths": np.array([3, 2**31 - 1], dtype=np.int32)},
    "too few lengths": {"lengths": np.array([3], dtype=np.int32)},
    "too many lengths": {"lengths": np.array([3, 2, 2], dtype=np.int32)},
    "lengths of two axes": {"lengths": np.array([[3, 2]], dtype=np.int32)},
    "too few constants": {"constants": np.ones((1, 4))},
    "narrow constants": {"constants": np.ones((2, 3))},
    "flat constants": {"constants": np.ones(8)},
    "flat tokens": {"tokens": np.array([X1, X2], dtype=np.uint16)},
    "tokens of int64": {"tokens": np.array([[X1], [65536]])},
    "tokens of float64": {"tokens": np.array([[X1], [0.5]])},
    "tokens of bytes": {"tokens": np.zeros((2, 4), dtype=np.uint8)},
    "tokens in another byte order": {"tokens": np.zeros((2, 4), dtype=">u2" if sys.byteorder == "little" else "<u2")},
    "tokens in another order": {"tokens": np.asfortranarray(np.zeros((2, 4), dtype=np.uint16))},
    "every other token": {"tokens": np.zeros((2, 8), dtype=np.uint16)[:, ::2]},
    "lengths of int64": {"lengths": np.array([3, 2])},
    "lengths of float64": {"lengths": np.array([3.0, 2.0])},
    "constants of float32": {"constants": np.ones((2, 4), dtype=np.float32)},
    "constants of int64": {"constants": np.ones((2, 4), dtype=np.int64)},
    "complex constants": {"constants": np.ones((2, 4), dtype=complex)},
    "constants that are text": {"constants": np.array([["a"] * 4] * 2)},
    "lists": {"tokens": [[0]], "lengths": [1], "constants": [[1.0]]},
    "nothing": {"tokens": None},
}


@pytest.mark.parametrize("taker", EVERY)
def test_good_rows_are_taken(taker: str) -> None:
    assert EVERY[taker](*rows()) is not None


@pytest.mark.parametrize("taker", EVERY)
@pytest.mark.parametrize("what", BAD_ROWS)
def test_bad_rows_are_refused(taker: str, what: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        EVERY[taker](*rows(**BAD_ROWS[what]))


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    "how",
    [
        {"validity": Validity.VALUES, "threads": 1, "instruction_set": "mmx"},
        {"validity": Validity.VALUES, "threads": 1, "instruction_set": ""},
        {"validity": Validity.VALUES, "threads": 1, "instruction_set": 3},
        {"validity": Validity.VALUES, "threads": 0},
        {"validity": Validity.VALUES, "threads": -1},
        {"validity": Validity.VALUES, "threads": 2**40},
        {"validity": Validity.VALUES, "threads": 1.5},
        {"validity": "yes", "threads": 1},
        {"validity": Validity.VALUES},
        {"threads": 1},
        {},
    ],
)
def test_an_unknown_manner_is_refused(taker: str, how: How) -> None:
    with pytest.raises((ValueError, TypeError)):
        TAKERS[taker](*rows(), **how)


@pytest.mark.parametrize(
    ("iterations", "restarts", "seed"), [(-1, 0, 0), (1, -1, 0), (1, 0, -1), (2**40, 0, 0), (1, 0, 2**64), (1.5, 0, 0)]
)
def test_numbers_out_of_range_are_refused_by_a_fit(iterations: Any, restarts: int, seed: int) -> None:
    how: How = {"validity": Validity.VALUES, "threads": 1}
    with pytest.raises((ValueError, TypeError)):
        _core.fit_constants(
            LIBRARY.vocabulary,
            samples(),
            *rows(),
            method=LEVENBERG,
            iterations=iterations,
            restarts=restarts,
            seed=seed,
            **how,
        )
    with pytest.raises((ValueError, TypeError)):
        _core.Cache(2000, 2).score(
            LIBRARY.vocabulary,
            samples(),
            *rows(),
            fit=(iterations, restarts, seed, LEVENBERG),
            **how,
        )


@pytest.mark.parametrize("variables", [0, 1])
@pytest.mark.parametrize("taker", ["squared_errors", "predictions", "fit_constants", "linearise", "score"])
def test_data_without_the_librarys_columns_are_refused(taker: str, variables: int) -> None:
    how: How = {} if taker == "linearise" else {"validity": Validity.VALUES, "threads": 1}
    how |= {"method": LEVENBERG, "iterations": 1, "restarts": 0, "seed": 0} if taker == "fit_constants" else {}
    how |= {"fit": None} if taker == "score" else {}
    call = _core.Cache(2000, 2).score if taker == "score" else getattr(_core, taker)
    one = [array[:1] for array in rows()]
    with pytest.raises(ValueError, match="variable that is not a column"):
        call(LIBRARY.vocabulary, samples(variables), *one, **how)


def test_a_library_of_numbers_needs_no_columns() -> None:
    library = Library.of([3.0, "add"], 0)
    values, failure, _ = _core.predictions(
        library.vocabulary,
        samples(0),
        np.array([[1, 0, 0]], dtype=np.uint16),
        np.array([3], dtype=np.int32),
        np.full((1, 3), np.nan),
        validity=Validity.VALUES,
        threads=1,
    )
    assert values.tolist() == [[6.0] * 5]
    assert failure.tolist() == [0]


def test_linearise_takes_one_row() -> None:
    error, gradient, curvature = _core.linearise(LIBRARY.vocabulary, samples(), *[array[1:] for array in rows()])
    assert np.isfinite(error)
    assert gradient.shape == (1,)
    assert curvature.shape == (1, 1)
    with pytest.raises(ValueError, match="takes one row"):
        _core.linearise(LIBRARY.vocabulary, samples(), *rows())


@pytest.mark.parametrize(
    ("kind", "variable", "value"),
    [
        (np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int32), np.zeros(0)),
        (np.zeros(2, dtype=np.uint8), np.zeros(3, dtype=np.int32), np.zeros(2)),
        (np.zeros(2, dtype=np.uint8), np.zeros(2, dtype=np.int32), np.zeros(1)),
        (np.array([_core.CONSTANT + 1], dtype=np.uint8), np.zeros(1, dtype=np.int32), np.zeros(1)),
        (np.array([255], dtype=np.uint8), np.zeros(1, dtype=np.int32), np.zeros(1)),
        (np.array([_core.VARIABLE], dtype=np.uint8), np.array([-1], dtype=np.int32), np.zeros(1)),
        (np.zeros(65535, dtype=np.uint8), np.zeros(65535, dtype=np.int32), np.zeros(65535)),
        (np.zeros(2), np.zeros(2, dtype=np.int32), np.zeros(2)),
        (np.zeros(2, dtype=np.uint8), np.zeros(2), np.zeros(2)),
        (np.zeros(2, dtype=np.uint8), np.zeros(2, dtype=np.int32), np.zeros(2, dtype=np.int64)),
        (np.zeros((2, 1), dtype=np.uint8), np.zeros(2, dtype=np.int32), np.zeros(2)),
        ([0], [0], [0.0]),
    ],
)
def test_a_vocabulary_that_makes_no_sense_is_refused(kind: Any, variable: Any, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.Vocabulary(kind, variable, value)


@pytest.mark.parametrize(
    ("X", "y", "weight"),
    [
        (np.ones((0, 2)), np.ones(0), np.ones(0)),
        (np.ones((3, 2)), np.ones(4), np.ones(3)),
        (np.ones((3, 2)), np.ones(3), np.ones(2)),
        (np.ones(3), np.ones(3), np.ones(3)),
        (np.ones((3, 2)), np.ones((3, 1)), np.ones(3)),
        (np.ones((3, 2), dtype=np.float32), np.ones(3), np.ones(3)),
        (np.ones((3, 2), dtype=np.int64), np.ones(3), np.ones(3)),
        (np.ones((2, 3)).T, np.ones(3), np.ones(3)),
        (np.ones((3, 2), dtype=object), np.ones(3), np.ones(3)),
        ([[1.0]], [1.0], [1.0]),
        (None, None, None),
    ],
)
def test_samples_that_do_not_match_are_refused(X: Any, y: Any, weight: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.Samples(X, y, weight)


@pytest.mark.parametrize(
    "changes",
    [
        {"min_length": 0},
        {"min_length": 21},
        {"max_length": 32_768},
        {"max_length": -1},
        {"max_length": 2**40},
        {"rules": [_core.Relation(_core.Relationship.CHILD, [T], [1])]},
        {"rules": [_core.Relation(_core.Relationship.CHILD, [0], [T])]},
        {"rules": [_core.Relation(_core.Relationship.CHILD, [0], [65_535])]},
        {"rules": [_core.Limit([T], 1)]},
        {"rules": [_core.Need([0, T])]},
        {"rules": [_core.Nest([T], [SIN], 1)]},
        {"rules": [_core.Nest([SIN], [T], 1)]},
        {"rules": [_core.Size(T, 0, 1)]},
        {"rules": [_core.Size(SIN, 1, 1)]},
        {"rules": [_core.Size(SIN, -1, 1)]},
        {"rules": [_core.Dimensional(np.zeros((T, 2), dtype=np.int32), True)]},
        {"rules": [_core.Dimensional(np.zeros((T + 1, 2), dtype=np.int32), True)] * 2},
        {"rules": [([0], 1)]},
        {"rules": [None]},
        {"rules": 3},
        {"bias": np.zeros(T - 1)},
        {"bias": np.zeros((T, 1))},
        {"bias": np.zeros(T, dtype=np.float32)},
        {"soft_location": "ten"},
        {"vocabulary": None},
        {"vocabulary": LIBRARY},
    ],
)
def test_rules_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        rules(**changes)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (CORE.Relation, (6, [0], [1])),
        (CORE.Relation, (-1, [0], [1])),
        (CORE.Relation, (_core.Relationship.CHILD, [-1], [1])),
        (CORE.Relation, (_core.Relationship.CHILD, [65_536], [1])),
        (CORE.Relation, (_core.Relationship.CHILD, [0])),
        (CORE.Limit, ([0], 2**40)),
        (CORE.Limit, (0, 1)),
        (CORE.Need, (0,)),
        (CORE.Size, (-1, 0, 1)),
        (CORE.Dimensional, (np.zeros((T + 1, 9), dtype=np.int32), True)),
        (CORE.Dimensional, (np.zeros((0, 2), dtype=np.int32), True)),
        (CORE.Dimensional, (np.zeros((T + 1, 2)), True)),
        (CORE.Dimensional, (np.full((T + 1, 1), 2**30, dtype=np.int32), True)),
    ],
)
def test_a_rule_that_cannot_be_is_refused(kind: Any, given: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, TypeError)):
        kind(*given)


def test_rules_of_the_last_token_of_a_word_are_taken_and_of_the_next_refused() -> None:
    for count in (63, 64, 65, 128):
        library = Library.of(["add"], count - 1)
        given = {"min_length": 1, "max_length": 3, "bias": np.zeros(count), "soft_location": 0.0, "soft_variance": 0.0}
        last = count - 1
        limited = CORE.Rules(library.vocabulary, [_core.Limit([last], 0)], **given)
        assert np.flatnonzero(np.isneginf(limited.logits(np.array([], dtype=np.uint16)))).tolist() == [last]
        with pytest.raises(ValueError, match="one of the library's"):
            CORE.Rules(library.vocabulary, [_core.Limit([count], 0)], **given)


@pytest.mark.parametrize(
    "prefix",
    [
        np.array([T], dtype=np.uint16),
        np.array([65535], dtype=np.uint16),
        np.array([X1], dtype=np.uint16),  # complete
        np.array([X1, X1], dtype=np.uint16),
        np.array([SIN] * 20, dtype=np.uint16),  # too long to be completed
        np.array([SIN] * 30_000, dtype=np.uint16),
        np.array([ADD]),
        np.array([[ADD]], dtype=np.uint16),
        [ADD],
    ],
)
def test_a_prefix_that_begins_no_legal_expression_is_refused(prefix: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        rules().logits(prefix)


@pytest.mark.parametrize(
    "what", [name for name in BAD_ROWS if "constants" not in BAD_ROWS[name] or "tokens" in BAD_ROWS[name]]
)
def test_rows_that_cannot_be_read_are_refused_as_violations_too(what: str) -> None:
    tokens, lengths, _ = rows(**BAD_ROWS[what])
    if what in ("an incomplete row", "a row that goes on"):
        assert rules().violations(tokens, lengths)[0] == 3  # That is an answer: no expression.
        return
    with pytest.raises((ValueError, TypeError)):
        rules().violations(tokens, lengths)


@pytest.mark.parametrize(
    ("count", "seed", "step", "tries"), [(-1, 0, 0, 1), (1, -1, 0, 1), (1, 0, -1, 1), (1, 2**64, 0, 1), (1.5, 0, 0, 1)]
)
def test_numbers_out_of_range_are_refused_by_sampling(count: Any, seed: int, step: int, tries: int) -> None:
    with pytest.raises((ValueError, TypeError)):
        rules().sample(count, seed, step, tries)


def test_sampling_without_a_try_or_a_way_gives_rows_of_length_0() -> None:
    for tries in (0, -1):
        _, lengths = rules().sample(3, 0, 0, tries)
        assert lengths.tolist() == [0, 0, 0]
    _, lengths = rules(rules=[_core.Limit([X1, X2, CONST], 0)]).sample(3, 0, 0, 10)
    assert lengths.tolist() == [0, 0, 0]


@pytest.mark.memory
def test_more_memory_than_there_is_is_refused() -> None:
    with pytest.raises((MemoryError, ValueError)):
        rules().sample(2**60, 0, 0, 1)
    with pytest.raises((MemoryError, ValueError)):
        _core.tournament(np.zeros(3), 2**61, 1, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"tournament": -1},
        {"new_depth": -1},
        {"new_depth": 17},
        {"retries": -1},
        {"weights": [1.0]},
        {"weights": [1.0] * 5},
        {"weights": None},
        {"crossover": "half"},
        {"tournament": 2**40},
        {"tournament": 2**31 - 1},
        {"retries": 2**31 - 1},
    ],
)
def test_settings_of_variation_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        settings(**changes)


def test_variation_that_cannot_be_is_refused() -> None:
    one = [array[:1] for array in rows()]
    good = rows()
    calls: list[Callable[[], Any]] = [
        lambda: CORE.crossover(rules(), *one, settings(), 0, 0),
        lambda: CORE.mutate(rules(), *good, 6, settings(), 0, 0),
        lambda: CORE.mutate(rules(), *good, "SUBTREE", settings(), 0, 0),
        lambda: CORE.mutate(rules(), *good, _core.Mutation.SUBTREE, settings(), -1, 0),
        lambda: CORE.next_generation(rules(), *good, np.zeros(3), settings(), 0, 0),
        lambda: CORE.next_generation(rules(), *good, np.zeros(2, dtype=np.float32), settings(), 0, 0),
        lambda: CORE.next_generation(rules(), *[array[:0] for array in good], np.zeros(0), settings(), 0, 0),
        lambda: CORE.tournament(np.zeros(0), 1, 1, 0, 0),
        lambda: CORE.tournament(np.zeros(3), 1, 0, 0, 0),
        lambda: CORE.tournament(np.zeros(3), 1, 2**31 - 1, 0, 0),
        lambda: CORE.tournament(np.zeros(3), -1, 1, 0, 0),
        lambda: CORE.tournament(np.zeros(3, dtype=np.int64), 1, 1, 0, 0),
        lambda: CORE.tournament(np.zeros((3, 1)), 1, 1, 0, 0),
        lambda: CORE.Cache(-1, 0),
        lambda: CORE.Cache(1000, -1),
        lambda: CORE.Cache(1000),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError)):
            call()


def test_a_cache_used_in_another_manner_reads_nothing_outside_its_arrays() -> None:
    """First without a fit, then with one, and with more constants than it has room for: wrong use, but no crash."""
    tokens = np.array([[ADD, CONST, ADD, CONST, CONST]], dtype=np.uint16)
    lengths, constants = np.array([5], dtype=np.int32), np.array([[np.nan, 1.0, np.nan, 2.0, 3.0]])
    for room in (0, 1, 2, 3):
        cache = _core.Cache(2000, room)
        for fit in (None, (3, 0, 0, LEVENBERG), None, (3, 0, 0, LEVENBERG)):
            error, _, _, fitted, _ = cache.score(
                LIBRARY.vocabulary, samples(), tokens, lengths, constants, fit=fit, validity=Validity.VALUES, threads=1
            )
            assert np.isfinite(error).all()
            assert (fitted is None) == (fit is None)
            assert fitted is None or np.isfinite(fitted[0, [1, 3, 4]]).all()


def test_random_bytes_never_crash_the_core() -> None:
    """In a child process, so that a crash would be a failure of this test and not the end of all."""
    script = """
        import numpy as np
        from symseed import Dataset, Expression, Library, Population, _core, predict
        from symseed.scoring import FitMethod, Validity
        LEVENBERG = FitMethod.LEVENBERG_MARQUARDT
        rng = np.random.default_rng(0)
        library = Library.of(["add", "sin", "pow", "const", 2.0], 2)
        T = len(library)
        samples = _core.Samples(rng.normal(0, 1, (20, 2)), np.ones(20), np.ones(20))
        how_so = _core.Relationship
        kinds = [
            _core.Relation(how_so.DESCENDANT, [3], [3]),
            _core.Relation(how_so.UNIQUE_CHILD, [5], [2, 3]),
            _core.Relation(how_so.SIBLING, [0], [1]),
            _core.Limit([5], 2),
            _core.Need([0, 1]),
        ]
        given = dict(min_length=1, max_length=12, bias=np.zeros(T), soft_location=5.0, soft_variance=2.0)
        units = np.eye(T + 1, 2, dtype=np.int32)
        units = [[], [_core.Dimensional(units, True)], [_core.Dimensional(units, False)]]
        spaces = [_core.Rules(library.vocabulary, [*kinds, *more], **given) for more in units]
        settings = _core.VarySettings(0.5, 0.5, 3, 3, 1, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], False)
        completion = _core.Completion(library.vocabulary, samples, 4096, 5, 8)
        how = dict(validity=Validity.VALUES, threads=1)
        done = {True: 0, False: 0}
        for i in range(20000):
            rules = spaces[i // 15 % 3]
            N, L = rng.integers(0, 4, 2)
            high = T + 1 if rng.random() < 0.2 else T
            tokens = rng.integers(0, high, (N, L)).astype(np.uint16)
            if rng.random() < 0.8 and L:
                tokens[:, -1] = 0
            lengths = rng.integers(-1 if rng.random() < 0.1 else 1, L + 2, N).astype(np.int32)
            constants = rng.choice([1.0, np.nan, np.inf, -1e308, 5e-324], (N, L))
            reward = rng.choice([0.0, np.nan, np.inf, -np.inf], N)
            rows = (tokens, lengths, constants)
            on_data = (library.vocabulary, samples, *rows)
            calls = [
                lambda: _core.squared_errors(*on_data, **how),
                lambda: _core.predictions(*on_data, validity=Validity.FLAGS, threads=2),
                lambda: _core.fit_constants(*on_data, method=LEVENBERG, iterations=3, restarts=1, seed=i, **how),
                lambda: _core.Cache(1024, 1).score(*on_data, fit=(2, 0, 0, LEVENBERG), **how),
                lambda: _core.linearise(*on_data),
                lambda: _core.semantics(*on_data),
                lambda: completion.complete(rules, *rows, np.arange(N, dtype=np.int64)),
                lambda: _core.fingerprints(library.vocabulary, *rows),
                lambda: rules.violations(tokens, lengths),
                lambda: rules.logits(tokens.ravel()),
                lambda: _core.crossover(rules, *rows, settings, i, 0),
                lambda: _core.mutate(rules, *rows, _core.Mutation(i % 6), settings, i, 0),
                lambda: _core.next_generation(rules, *rows, reward, settings, i, 0),
            ]
            try:
                calls[i % len(calls)]()
                done[True] += 1
            except ValueError:
                done[False] += 1
        print(done[True], done[False])
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=100
    )
    assert answer.returncode == 0, answer.stderr
    assert all(int(count) > 2000 for count in answer.stdout.split())


@pytest.mark.parametrize("other", ["larger", "in another order"])
def test_rules_of_another_library_are_refused(other: str) -> None:
    """Rows that are whole in one library end too soon, or never, in another. In a child process, as it may crash."""
    script = f"""
        import numpy as np
        from symseed import Library, SearchSpace, _core
        own = Library.of(["add"], 2)
        other = Library.of(["add", "sub", "mul", "sin"], 3) if {other!r} == "larger" else Library(own.tokens[::-1])
        samples = _core.Samples(np.ones((5, 2)), np.ones(5), np.ones(5))
        space = SearchSpace(other, 1, 20, constraints=())
        rows = space.sample(2000, seed=0, step=0)
        arrays = (space.rules, rows.tokens, rows.lengths, rows.constants)
        try:
            _core.Completion(own.vocabulary, samples, 4096, 5, 5).complete(*arrays, np.arange(2000))
        except ValueError:
            print("refused")
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=100
    )
    assert answer.stdout == "refused\n"
    assert answer.returncode == 0


def test_random_trees_need_a_token_without_arguments() -> None:
    add = np.array([LIBRARY.tokens[ADD].code], dtype=np.uint8)
    one = _core.Vocabulary(add, np.zeros(1, dtype=np.int32), np.zeros(1))
    made = rules(vocabulary=one, bias=np.zeros(1))
    with pytest.raises(ValueError, match="Random trees need a token without arguments"):
        made.random_trees(3, 0, 0, 0, 3, 5)


def misaligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same numbers at addresses that are no multiples of their size."""
    content = b"\0" + array.tobytes()
    out = np.frombuffer(content, dtype=array.dtype, offset=1).reshape(array.shape)
    assert not out.flags.aligned
    return out


@pytest.mark.parametrize("place", range(3))
def test_arrays_at_odd_addresses_are_refused(place: int) -> None:
    given = rows()
    given[place] = misaligned(given[place])
    with pytest.raises(TypeError):
        CORE.predictions(LIBRARY.vocabulary, samples(), *given, validity=Validity.FLAGS, threads=1)
    with pytest.raises(TypeError):
        CORE.Samples(misaligned(np.ones((5, 2))), np.ones(5), np.ones(5))


@pytest.mark.parametrize(
    "call",
    [
        lambda odd: CORE.product(odd(np.eye(3)), np.eye(3)),
        lambda odd: CORE.product(np.eye(3), odd(np.eye(3)).T),
        lambda odd: CORE.dots(odd(np.eye(3)), np.ones(3)),
        lambda odd: CORE.least_squares(odd(np.eye(3)), np.ones(3), 1e-12),
        lambda odd: CORE.normal_solution(odd(np.eye(3)), np.ones(3)),
        lambda odd: CORE.leading_errors(odd(np.eye(3)), np.ones(3)),
        lambda odd: CORE.smallest_direction(odd(np.eye(3))),
        lambda odd: CORE.symmetric_eigen(odd(np.eye(3))),
        lambda odd: CORE.roots(odd(np.ones(3))),
    ],
)
def test_matrices_at_odd_addresses_are_refused(call: Callable[..., Any]) -> None:
    """They are read by rows and by columns, so that they need not be contiguous."""
    call(np.array)
    with pytest.raises(TypeError):
        call(misaligned)


def test_a_table_at_odd_addresses_is_fitted_all_the_same() -> None:
    X = misaligned(np.arange(10.0).reshape(5, 2))
    data = Dataset.of(X, misaligned(np.arange(5.0)))
    np.testing.assert_array_equal(data.X, np.arange(10.0).reshape(5, 2))
    row = Population.from_expressions([Expression.parse("x1 + x2", LIBRARY)])
    np.testing.assert_array_equal(predict(row, data).value[0], X.sum(axis=1))


def test_rows_that_change_during_a_call_are_read_as_they_were() -> None:
    """A function of the user's own, called while the rows are read, makes their tokens and lengths invalid."""
    own = np.array([[1, 0, 65535, 65535]] * 50, dtype=np.uint16)
    lengths = np.full(50, 2, dtype=np.int32)

    def bump(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        own[:] = 60_000
        lengths[:] = 2_000_000_000
        return x

    kinds = np.array([_core.VARIABLE, _core.FUNCTION], dtype=np.uint8)
    function = _core.Function.of_callable(1, bump)
    vocabulary = _core.Vocabulary(kinds, np.zeros(2, dtype=np.int32), np.zeros(2), [function])
    value, failure, _ = CORE.predictions(
        vocabulary, samples(), own, lengths, np.full((50, 4), np.nan), validity=Validity.FLAGS, threads=1
    )
    assert (own == 60_000).all()
    assert not failure.any()
    np.testing.assert_array_equal(value, np.ones((50, 5)))


def test_a_state_of_a_network_must_be_finite() -> None:
    network = _core.Lstm(T, 4, 1, sees_previous=False, sees_open=False, is_double=True, seed=0)
    state, steps = network.state()
    broken = np.array(state)
    broken[0, 0] = np.nan
    with pytest.raises(ValueError, match="state must be finite"):
        network.set_state(broken, steps)
