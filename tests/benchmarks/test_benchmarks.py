"""The benchmark catalogue: all problems of the paper as printed, the released code's data, and entries of one's own."""

from __future__ import annotations

import math
import pickle
import re
import zlib
from collections.abc import Callable

import numpy as np
import pytest

from symseed import Expression, SettingsError, benchmarks
from symseed.arrays import Floats
from symseed.benchmarks import problem
from symseed.errors import DataError
from symseed.language.tokens import TokenKind

KOZA = "add sub mul div sin cos exp log"
NAMES = benchmarks.names()


def polynomial(degree: int) -> Callable[[Floats], Floats]:
    return lambda x: np.sum([x**k for k in range(1, degree + 1)], axis=0)


def harmonic(x: Floats) -> Floats:
    return np.array([math.fsum(1.0 / k for k in range(1, int(n) + 1)) for n in x])


def r1(x: Floats) -> Floats:
    return (x + 1) ** 3 / (x**2 - x + 1)


def r2(x: Floats) -> Floats:
    return (x**5 - 3 * x**3 + 1) / (x**2 + 1)


def r3(x: Floats) -> Floats:
    return (x**6 + x**5) / (x**4 + x**3 + x**2 + x + 1)


def neat_9(x: Floats, y: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return 1 / (1 + x**-4.0) + 1 / (1 + y**-4.0)


# Both benchmark tables of the paper, transcribed once more: name, formula, dataset (kind, from, to, points).
PRINTED: dict[str, tuple[Callable[..., Floats], tuple[str, float, float, int]]] = {
    "Nguyen-1": (polynomial(3), ("U", -1, 1, 20)),
    "Nguyen-2": (polynomial(4), ("U", -1, 1, 20)),
    "Nguyen-3": (polynomial(5), ("U", -1, 1, 20)),
    "Nguyen-4": (polynomial(6), ("U", -1, 1, 20)),
    "Nguyen-5": (lambda x: np.sin(x**2) * np.cos(x) - 1, ("U", -1, 1, 20)),
    "Nguyen-6": (lambda x: np.sin(x) + np.sin(x + x**2), ("U", -1, 1, 20)),
    "Nguyen-7": (lambda x: np.log(x + 1) + np.log(x**2 + 1), ("U", 0, 2, 20)),
    "Nguyen-8": (lambda x: np.sqrt(x), ("U", 0, 4, 20)),
    "Nguyen-9": (lambda x, y: np.sin(x) + np.sin(y**2), ("U", 0, 1, 20)),
    "Nguyen-10": (lambda x, y: 2 * np.sin(x) * np.cos(y), ("U", 0, 1, 20)),
    "Nguyen-11": (lambda x, y: x**y, ("U", 0, 1, 20)),
    "Nguyen-12": (lambda x, y: x**4 - x**3 + y**2 / 2 - y, ("U", 0, 1, 20)),
    "Nguyen-12*": (lambda x, y: x**4 - x**3 + y**2 / 2 - y, ("U", 0, 10, 20)),
    "R-1": (r1, ("E", -1, 1, 20)),
    "R-2": (r2, ("E", -1, 1, 20)),
    "R-3": (r3, ("E", -1, 1, 20)),
    "R-1*": (r1, ("E", -10, 10, 20)),
    "R-2*": (r2, ("E", -10, 10, 20)),
    "R-3*": (r3, ("E", -10, 10, 20)),
    "Livermore-1": (lambda x: 1 / 3 + x + np.sin(x**2), ("U", -10, 10, 1000)),
    "Livermore-2": (lambda x: np.sin(x**2) * np.cos(x) - 2, ("U", -1, 1, 20)),
    "Livermore-3": (lambda x: np.sin(x**3) * np.cos(x**2) - 1, ("U", -1, 1, 20)),
    "Livermore-4": (lambda x: np.log(x + 1) + np.log(x**2 + 1) + np.log(x), ("U", 0, 2, 20)),
    "Livermore-5": (lambda x, y: x**4 - x**3 + x**2 - y, ("U", 0, 1, 20)),
    "Livermore-6": (lambda x: 4 * x**4 + 3 * x**3 + 2 * x**2 + x, ("U", -1, 1, 20)),
    "Livermore-7": (lambda x: np.sinh(x), ("U", -1, 1, 20)),
    "Livermore-8": (lambda x: np.cosh(x), ("U", -1, 1, 20)),
    "Livermore-9": (polynomial(9), ("U", -1, 1, 20)),
    "Livermore-10": (lambda x, y: 6 * np.sin(x) * np.cos(y), ("U", 0, 1, 20)),
    "Livermore-11": (lambda x, y: x**2 * x**2 / (x + y), ("U", -1, 1, 50)),
    "Livermore-12": (lambda x, y: x**5 / y**3, ("U", -1, 1, 50)),
    "Livermore-13": (lambda x: np.cbrt(x), ("U", 0, 4, 20)),
    "Livermore-14": (lambda x: x**3 + x**2 + x + np.sin(x) + np.sin(x**2), ("U", -1, 1, 20)),
    "Livermore-15": (lambda x: x ** (1 / 5), ("U", 0, 4, 20)),
    "Livermore-16": (lambda x: x ** (2 / 5), ("U", 0, 4, 20)),
    "Livermore-17": (lambda x, y: 4 * np.sin(x) * np.cos(y), ("U", 0, 1, 20)),
    "Livermore-18": (lambda x: np.sin(x**2) * np.cos(x) - 5, ("U", -1, 1, 20)),
    "Livermore-19": (lambda x: x**5 + x**4 + x**2 + x, ("U", -1, 1, 20)),
    "Livermore-20": (lambda x: np.exp(-(x**2)), ("U", -1, 1, 20)),
    "Livermore-21": (polynomial(8), ("U", -1, 1, 20)),
    "Livermore-22": (lambda x: np.exp(-0.5 * x**2), ("U", -1, 1, 20)),
    "Jin-1": (lambda x, y: 2.5 * x**4 - 1.3 * x**3 + 0.5 * y**2 - 1.7 * y, ("U", -3, 3, 100)),
    "Jin-2": (lambda x, y: 8.0 * x**2 + 8.0 * y**3 - 15.0, ("U", -3, 3, 100)),
    "Jin-3": (lambda x, y: 0.2 * x**3 + 0.5 * y**3 - 1.2 * y - 0.5 * x, ("U", -3, 3, 100)),
    "Jin-4": (lambda x, y: 1.5 * np.exp(x) + 5.0 * np.cos(y), ("U", -3, 3, 100)),
    "Jin-5": (lambda x, y: 6.0 * np.sin(x) * np.cos(y), ("U", -3, 3, 100)),
    "Jin-6": (lambda x, y: 1.35 * x * y + 5.5 * np.sin((x - 1.0) * (y - 1.0)), ("U", -3, 3, 100)),
    "Neat-1": (polynomial(4), ("U", -1, 1, 20)),
    "Neat-2": (polynomial(5), ("U", -1, 1, 20)),
    "Neat-3": (lambda x: np.sin(x**2) * np.cos(x) - 1, ("U", -1, 1, 20)),
    "Neat-4": (lambda x: np.log(x + 1) + np.log(x**2 + 1), ("U", 0, 2, 20)),
    "Neat-5": (lambda x, y: 2 * np.sin(x) * np.cos(y), ("U", -1, 1, 100)),
    "Neat-6": (harmonic, ("E", 1, 50, 50)),
    "Neat-7": (lambda x, y: 2 - 2.1 * np.cos(9.8 * x) * np.sin(1.3 * y), ("E", -50, 50, 316)),
    "Neat-8": (lambda x, y: np.exp(-((x - 1) ** 2)) / (1.2 + (y - 2.5) ** 2), ("U", 0.3, 4, 100)),
    "Neat-9": (neat_9, ("E", -5, 5, 21)),
}

# What the released code has instead.
CODE: dict[str, tuple[Callable[..., Floats], tuple[str, float, float, int]]] = {
    "R-1*/code": (r1, ("E", -10, 10, 2)),
    "R-2*/code": (r2, ("E", -10, 10, 2)),
    "R-3*/code": (r3, ("E", -10, 10, 2)),
    "Livermore-5/code": (lambda x, y: x**4 - x**3 + y**2 - y, ("U", 0, 1, 20)),
    "Livermore-11/code": (lambda x, y: x**2 * y**2 / (x + y), ("U", -1, 1, 50)),
    "Livermore-14/code": (lambda x, y: x**3 + x**2 + x + np.sin(x) + np.sin(y**2), ("U", -1, 1, 20)),
    "Livermore-16/code": (lambda x: x ** (2 / 3), ("U", 0, 4, 20)),
    "Neat-6/code": (lambda x: harmonic(x).astype(np.float32), ("E", 1, 50, 50)),
    "Neat-7/code": (lambda x, y: 2 - 2.1 * np.cos(9.8 * x) * np.sin(1.3 * y), ("U", -50, 50, 10_000)),
    "Neat-9/code": (neat_9, ("E", -5, 5, 26)),
}

# Data of the released code: our name, its name, the checksum that seeds, first training row, its y, first test row.
CHECK_VALUES = [
    ("Nguyen-1", "Nguyen-1", 231539413, (-0.74038,), -0.598066, (-0.116306,)),
    ("Nguyen-2", "Nguyen-2", 231604950, (-0.278916,), -0.216768, (-0.547239,)),
    ("Nguyen-3", "Nguyen-3", 231670487, (-0.274241,), -0.215553, (0.123306,)),
    ("Nguyen-4", "Nguyen-4", 231736024, (0.577201,), 1.31471, (-0.789561,)),
    ("Nguyen-5", "Nguyen-5", 231801561, (-0.434948,), -0.829456, (-0.270781,)),
    ("Nguyen-6", "Nguyen-6", 231867098, (-0.873444,), -0.87686, (0.837973,)),
    ("Nguyen-7", "Nguyen-7", 231932635, (0.605918,), 0.786413, (0.152813,)),
    ("Nguyen-8", "Nguyen-8", 231998172, (0.443914,), 0.666269, (1.97777,)),
    ("Nguyen-9", "Nguyen-9", 232063709, (0.190724, 0.437788), 0.380056, (0.750293, 0.0473145)),
    ("Nguyen-10", "Nguyen-10", 282198789, (0.0228132, 0.728685), 0.0340367, (0.998027, 0.816341)),
    ("Nguyen-11", "Nguyen-11", 282264326, (0.00965012, 0.975468), 0.0108138, (0.933096, 0.242509)),
    ("Nguyen-12", "Nguyen-12", 282329863, (0.57153, 0.20861), -0.266841, (0.901146, 0.539086)),
    ("Nguyen-12*", "Nguyen-12a", 339477352, (0.184468, 7.95957), 23.7127, (5.81831, 4.198)),
    ("Livermore-1", "Livermore-1", 437257236, (2.51056,), 2.86363, (-4.57835,)),
    ("Livermore-2", "Livermore-2", 437322773, (0.0749596,), -1.9944, (0.746584,)),
    ("Livermore-3", "Livermore-3", 437388310, (0.371753,), -0.949136, (0.503686,)),
    ("Livermore-4", "Livermore-4", 437453847, (1.86304,), 3.17169, (1.89114,)),
    ("Livermore-5/code", "Livermore-5", 437519384, (0.752811, 0.971921), -0.132751, (0.879584, 0.711)),
    ("Livermore-6", "Livermore-6", 437584921, (0.656022,), 3.10459, (0.936826,)),
    ("Livermore-7", "Livermore-7", 437650458, (-0.571944,), -0.603641, (-0.0846018,)),
    ("Livermore-8", "Livermore-8", 437715995, (0.0463882,), 1.00108, (-0.0555503,)),
    ("Livermore-9", "Livermore-9", 437781532, (-0.702495,), -0.42982, (0.777042,)),
    ("Livermore-10", "Livermore-10", 508822596, (0.334207, 0.314725), 1.87145, (0.137715, 0.274234)),
    ("Livermore-11/code", "Livermore-11", 508888133, (-0.692531, -0.346349), -0.0553785, (0.0720655, 0.887145)),
    ("Livermore-12", "Livermore-12", 508953670, (0.722562, 0.0337797), 5109.82, (-0.280082, -0.743477)),
    ("Livermore-13", "Livermore-13", 509019207, (2.14759,), 1.29018, (2.48867,)),
    ("Livermore-14/code", "Livermore-14", 509084744, (0.824597, -0.488964), 3.03634, (-0.371883, 0.781489)),
    ("Livermore-15", "Livermore-15", 509150281, (3.57863,), 1.29046, (3.02003,)),
    ("Livermore-16/code", "Livermore-16", 509215818, (2.61071,), 1.896, (0.366128,)),
    ("Livermore-17", "Livermore-17", 509281355, (0.628226, 0.251522), 2.27687, (0.523381, 0.942286)),
    ("Livermore-18", "Livermore-18", 509346892, (0.696743,), -4.64214, (-0.0794706,)),
    ("Livermore-19", "Livermore-19", 509412429, (0.800693,), 2.18193, (0.570397,)),
    ("Livermore-20", "Livermore-20", 508953669, (-0.556562,), 0.733622, (-0.633418,)),
    ("Livermore-21", "Livermore-21", 509019206, (0.129092,), 0.148226, (-0.286728,)),
    ("Livermore-22", "Livermore-22", 509084743, (-0.605553,), 0.832479, (0.08727,)),
    ("R-1", "R1", 14090372, (-1,), 0, (-1,)),
    ("R-2", "R2", 14155909, (-1,), 1.5, (-1,)),
    ("R-3", "R3", 14221446, (-1,), 0, (-1,)),
    ("R-1*/code", "R1a", 29098213, (-10,), -6.56757, (-10,)),
    ("R-2*/code", "R2a", 29229286, (-10,), -960.386, (-10,)),
    ("R-3*/code", "R3a", 29360359, (-10,), 98.999, (-10,)),
    ("Jin-1", "Jin-1", 82837888, (-1.26371, 2.73853), 8.09365, (-1.25688, 0.699708)),
    ("Jin-2", "Jin-2", 82903425, (-2.38201, 1.67634), 68.0775, (-0.955374, 2.10391)),
    ("Jin-3", "Jin-3", 82968962, (-1.80353, -2.86477), -8.5892, (-2.5717, -1.18101)),
    ("Jin-4", "Jin-4", 83034499, (-0.60089, -0.823773), 4.21978, (-0.275552, -2.85542)),
    ("Jin-5", "Jin-5", 83100036, (-2.9692, 0.732519), -0.765218, (0.609667, 2.81938)),
    ("Jin-6", "Jin-6", 83165573, (-2.80082, -2.65979), 15.4159, (2.13214, 2.16994)),
    ("Neat-1", "Neat-1", 121504231, (-0.281125,), -0.218066, (0.448728,)),
    ("Neat-2", "Neat-2", 121569768, (-0.242196,), -0.195137, (0.300868,)),
    ("Neat-3", "Neat-3", 121635305, (-0.396182,), -0.855792, (0.898654,)),
    ("Neat-4", "Neat-4", 121700842, (1.17939,), 1.65074, (1.5088,)),
    ("Neat-5", "Neat-5", 121766379, (-0.719934, -0.480754), -1.16919, (-0.440529, -0.0353565)),
    ("Neat-6/code", "Neat-6", 121831916, (1,), 1, (1,)),
    ("Neat-7/code", "Neat-7", 121897453, (-47.234, 22.2195), 1.43122, (46.0248, -42.0235)),
    ("Neat-8", "Neat-8", 121962990, (1.79186, 3.75651), 0.19223, (2.93197, 0.823347)),
    ("Neat-9/code", "Neat-9", 122028527, (-5, -5), 1.99681, (-5, -5)),
]

VARIED = {name.removesuffix("/code") for name in CODE}

TOKENS = {
    **{name: KOZA for name in PRINTED if name.startswith(("Nguyen", "R", "Livermore"))},
    **{f"Jin-{k}": "add sub mul div sin cos exp square cube const" for k in range(1, 7)},
    **{f"Neat-{k}": f"{KOZA} 1.0" for k in range(1, 5)},
    "Neat-5": KOZA,
    "Neat-6": "add mul div inv neg sqrt",
    "Neat-6/code": "add mul inv neg sqrt const 1.0",
    "Neat-7": f"{KOZA} square cube sqrt tan tanh",
    "Neat-7/code": f"{KOZA} square cube sqrt tan tanh const",
    "Neat-8": "add sub mul div square exp expneg",
    "Neat-9": KOZA,
}


def test_every_problem_of_the_papers_tables_is_there() -> None:
    assert set(PRINTED) | set(CODE) <= set(NAMES)
    counts = {"Nguyen": 13, "R": 6, "Livermore": 22, "Jin": 6, "Neat": 9}
    for family, count in counts.items():
        own = [name for name in NAMES if re.fullmatch(rf"{family}-\d+\*?", name)]
        assert len(own) == count
        assert set(own) <= set(PRINTED)
    assert {name for name in NAMES if name.endswith("/code")} == {*CODE, "Keijzer-6/code"}
    assert len(CHECK_VALUES) == len(PRINTED)


def test_sets_are_those_of_the_papers_tables() -> None:
    sets = benchmarks.SETS
    assert sets["Nguyen"] == tuple(f"Nguyen-{k}" for k in range(1, 13))
    assert sets["Nguyen-paper"] == (*sets["Nguyen"][:-1], "Nguyen-12*")
    assert sets["R"] == ("R-1", "R-2", "R-3")
    assert sets["R-paper"] == ("R-1*", "R-2*", "R-3*")
    assert sets["Livermore"] == tuple(f"Livermore-{k}" for k in range(1, 23))
    assert sets["Jin"] == tuple(f"Jin-{k}" for k in range(1, 7))
    assert sets["Neat"] == tuple(f"Neat-{k}" for k in range(1, 10))
    assert len(sets["Nguyen-paper"] + sets["R-paper"] + sets["Livermore"]) == 37
    assert {name: len(sets[name]) for name in ("Keijzer", "Korns", "Koza", "Vladislavleva", "Pagie", "Constant")} == {
        "Keijzer": 15,
        "Korns": 15,
        "Koza": 2,
        "Vladislavleva": 8,
        "Pagie": 1,
        "Constant": 8,
    }


@pytest.mark.parametrize(
    ("name", "printed"), [("R-code", "R-paper"), ("Livermore-code", "Livermore"), ("Neat-code", "Neat")]
)
def test_a_code_set_is_the_printed_one_with_every_variant_that_there_is(name: str, printed: str) -> None:
    expected = tuple(f"{member}/code" if member in VARIED else member for member in benchmarks.SETS[printed])
    assert benchmarks.SETS[name] == expected


@pytest.mark.parametrize(("name", "code_name", "seed", "train_row", "y", "test_row"), CHECK_VALUES)
def test_draw_0_is_the_data_of_the_released_code(
    name: str, code_name: str, seed: int, train_row: tuple[float, ...], y: float, test_row: tuple[float, ...]
) -> None:
    found = benchmarks.get(name)
    assert found.seed_name == code_name
    assert zlib.adler32(code_name.encode()) == seed
    train, test = found.datasets()
    assert tuple(float(f"{value:.6g}") for value in train.X[0]) == train_row
    assert float(f"{train.y[0]:.6g}") == y
    assert tuple(float(f"{value:.6g}") for value in test.X[0]) == test_row


@pytest.mark.parametrize("name", [*PRINTED, *CODE])
def test_targets_and_data_are_those_of_the_tables(name: str) -> None:
    formula, (kind, low, high, points) = (PRINTED | CODE)[name]
    found = benchmarks.get(name)
    variables = len(found.library.variables)
    for data in found.datasets():
        assert data.X.shape[1] == variables == formula.__code__.co_argcount
        np.testing.assert_allclose(data.y, formula(*data.X.T), rtol=1e-12, atol=1e-13)
        assert data.X.min() >= low
    train, test = found.datasets()
    assert train.X.max() <= high
    assert len(train) == (points if kind == "U" else points**variables)
    if kind == "E":
        for column in train.X.T:
            assert np.array_equal(np.unique(column), np.linspace(low, high, points))
        assert len(np.unique(train.X, axis=0)) == len(train)
    if name.startswith("Jin"):
        assert len(test) == 30
    elif name.startswith("Neat-6"):
        assert np.array_equal(test.X[:, 0], np.arange(1, 121))
    elif kind == "E":
        assert np.array_equal(train.X, test.X)
    else:
        assert train.X.shape == test.X.shape
    if kind == "U":
        assert not np.isin(train.X, test.X).any()
        assert test.X.max() <= high


@pytest.mark.parametrize("name", NAMES)
def test_every_problem_has_finite_data_and_its_variables_first(name: str) -> None:
    found = benchmarks.get(name)
    for data in found.datasets():  # `Dataset` refuses what is not finite
        assert data.names == tuple(token.name for token in found.library.variables)
        assert data.names == tuple(token.name for token in found.library.tokens[: data.X.shape[1]])
        assert np.array_equal(found.values(data.X), data.y)
    assert (found.target is None) == (found.function is not None)
    assert found.source
    if found.target is not None:
        assert found.target == Expression.parse(found.formula, found.target.library)


@pytest.mark.parametrize("name", TOKENS)
def test_token_sets_are_those_of_the_tables(name: str) -> None:
    library = benchmarks.get(name).library
    own = [token.name for token in library.tokens if token.kind is not TokenKind.VARIABLE]
    assert own == TOKENS[name].split()


def test_starred_rationals_have_twenty_points_and_two_in_the_released_code() -> None:
    for k in (1, 2, 3):
        assert [len(data) for data in benchmarks.get(f"R-{k}*").datasets()] == [20, 20]
        for data in benchmarks.get(f"R-{k}*/code").datasets():
            assert data.X.ravel().tolist() == [-10.0, 10.0]


@pytest.mark.parametrize("name", sorted(VARIED))
def test_a_variant_differs_from_what_is_printed_and_says_how(name: str) -> None:
    printed, variant = benchmarks.get(name), benchmarks.get(f"{name}/code")
    one, other = printed.datasets()[0], variant.datasets()[0]
    assert one.X.shape != other.X.shape or not np.array_equal(one.y, other.y)
    assert printed.note
    assert variant.note


def test_other_draws_are_fresh_and_repeatable_and_grids_stay() -> None:
    found = benchmarks.get("Nguyen-9")
    (train, test), (other_train, other_test) = found.datasets(), found.datasets(draw=1)
    assert not np.isin(other_train.X, train.X).any()
    assert not np.isin(other_test.X, test.X).any()
    assert np.array_equal(found.datasets(1)[1].X, other_test.X)
    assert np.array_equal(benchmarks.get("R-1").datasets(0)[0].X, benchmarks.get("R-1").datasets(5)[0].X)
    found.datasets(draw=2**32)
    with pytest.raises(SettingsError, match="`draw` must be at least 0, but it is -1"):
        found.datasets(-1)


def test_test_data_follow_training_data_in_one_stream() -> None:
    train, test = benchmarks.get("Keijzer-5").datasets()
    rng = np.random.RandomState(zlib.adler32(b"Keijzer-5"))
    for data, count in ((train, 1_000), (test, 10_000)):
        for column, (low, high) in zip(data.X.T, [(-1, 1), (-1, 1), (1, 2)], strict=True):
            assert np.array_equal(column, rng.uniform(low, high, count))


def test_harmonic_numbers_are_exact_and_refuse_what_is_no_whole_number() -> None:
    assert problem.harmonic(np.array([[1.0], [2.0], [4.0]])).tolist() == [1.0, 1.5, 25 / 12]
    assert problem.harmonic32(np.array([[3.0]])).tolist() == [float(np.float32(11 / 6))]
    for bad in (0.0, 1.5, math.nan, math.inf, 1e9):
        with pytest.raises(DataError, match="whole numbers from 1"):
            problem.harmonic(np.array([[bad]]))


def test_numbers_of_a_target_are_literals_as_written() -> None:
    target = benchmarks.get("Korns-7").target
    assert target is not None
    values = [token.value for token in target.tokens if token.kind is TokenKind.LITERAL]
    assert values == [2.1380940889, 1.0, -0.54723748542]
    assert not target.library.has_constants


def test_a_name_gives_one_problem_and_a_set_all_of_its_own() -> None:
    assert [found.name for found in benchmarks.resolve("R-paper")] == ["R-1*", "R-2*", "R-3*"]
    assert benchmarks.resolve("Livermore-5/code") == (benchmarks.get("Livermore-5/code"),)
    assert benchmarks.get("Nguyen-1") is benchmarks.get("Nguyen-1")


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"no problem `nguyen-1`\. Did you mean `Nguyen-1`\?"):
        benchmarks.get("nguyen-1")
    with pytest.raises(SettingsError, match=r"no set or problem `Livermor`\. Did you mean `Livermore`\? The sets are"):
        benchmarks.resolve("Livermor")
    with pytest.raises(SettingsError, match=r"no set or problem `zzzzzz`\. The sets are"):
        benchmarks.resolve("zzzzzz")
    with pytest.raises(AttributeError, match="no attribute 'NOTHING'"):
        benchmarks.NOTHING  # noqa: B018


def test_problems_and_sets_cannot_be_changed_and_problems_can_be_sent() -> None:
    with pytest.raises(TypeError):
        benchmarks.SETS["R"] = ()  # type: ignore[index]
    for name in ("Nguyen-7", "Neat-6"):
        found = benchmarks.get(name)
        with pytest.raises(AttributeError):
            found.name = "other"  # type: ignore[misc]
        assert pickle.loads(pickle.dumps(found)) == found
