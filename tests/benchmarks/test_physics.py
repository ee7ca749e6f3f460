"""The public sets of physics: Feynman's equations and Strogatz's systems, with their published formulas and units."""

# The formulas' own names: I is a current, l would be a length.
# ruff: noqa: E741

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symseed import Expression, SearchSpace, SpaceError, SymbolicRegressor, benchmarks
from symseed.arrays import Floats
from symseed.benchmarks.problem import Problem
from symseed.benchmarks.rules import Trajectories, Uniform
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.tokens import ALIASES, TokenKind
from symseed.language.writer import Writer
from symseed.recovery import Checker
from symseed.space.constraints import Dimensions

# The database's formulas, transcribed once more; an argument is a column, in the order of the database.
PUBLISHED: dict[str, Callable[..., Floats]] = {
    "Feynman-I.6.2a": lambda theta: np.exp(-(theta**2) / 2) / np.sqrt(2 * np.pi),
    "Feynman-I.6.2": lambda sigma, theta: np.exp(-((theta / sigma) ** 2) / 2) / (np.sqrt(2 * np.pi) * sigma),
    "Feynman-I.6.2b": lambda sigma, theta, theta1: (
        np.exp(-(((theta - theta1) / sigma) ** 2) / 2) / (np.sqrt(2 * np.pi) * sigma)
    ),
    "Feynman-I.8.14": lambda x1, x2, y1, y2: np.sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2),
    "Feynman-I.9.18": lambda m1, m2, G, x1, x2, y1, y2, z1, z2: (
        G * m1 * m2 / ((x2 - x1) ** 2 + (y2 - y1) ** 2 + (z2 - z1) ** 2)
    ),
    "Feynman-I.10.7": lambda m_0, v, c: m_0 / np.sqrt(1 - v**2 / c**2),
    "Feynman-I.11.19": lambda x1, x2, x3, y1, y2, y3: x1 * y1 + x2 * y2 + x3 * y3,
    "Feynman-I.12.1": lambda mu, Nn: mu * Nn,
    "Feynman-I.12.2": lambda q1, q2, epsilon, r: q1 * q2 * r / (4 * np.pi * epsilon * r**3),
    "Feynman-I.12.4": lambda q1, epsilon, r: q1 * r / (4 * np.pi * epsilon * r**3),
    "Feynman-I.12.5": lambda q2, Ef: q2 * Ef,
    "Feynman-I.12.11": lambda q, Ef, B, v, theta: q * (Ef + B * v * np.sin(theta)),
    "Feynman-I.13.4": lambda m, v, u, w: 1 / 2 * m * (v**2 + u**2 + w**2),
    "Feynman-I.13.12": lambda m1, m2, r1, r2, G: G * m1 * m2 * (1 / r2 - 1 / r1),
    "Feynman-I.14.3": lambda m, g, z: m * g * z,
    "Feynman-I.14.4": lambda k_spring, x: 1 / 2 * k_spring * x**2,
    "Feynman-I.15.3x": lambda x, u, c, t: (x - u * t) / np.sqrt(1 - u**2 / c**2),
    "Feynman-I.15.3t": lambda x, c, u, t: (t - u * x / c**2) / np.sqrt(1 - u**2 / c**2),
    "Feynman-I.15.1": lambda m_0, v, c: m_0 * v / np.sqrt(1 - v**2 / c**2),
    "Feynman-I.16.6": lambda c, v, u: (u + v) / (1 + u * v / c**2),
    "Feynman-I.18.4": lambda m1, m2, r1, r2: (m1 * r1 + m2 * r2) / (m1 + m2),
    "Feynman-I.18.12": lambda r, F, theta: r * F * np.sin(theta),
    "Feynman-I.18.14": lambda m, r, v, theta: m * r * v * np.sin(theta),
    "Feynman-I.24.6": lambda m, omega, omega_0, x: 1 / 2 * m * (omega**2 + omega_0**2) * 1 / 2 * x**2,
    "Feynman-I.25.13": lambda q, C: q / C,
    "Feynman-I.26.2": lambda n, theta2: np.arcsin(n * np.sin(theta2)),
    "Feynman-I.27.6": lambda d1, d2, n: 1 / (1 / d1 + n / d2),
    "Feynman-I.29.4": lambda omega, c: omega / c,
    "Feynman-I.29.16": lambda x1, x2, theta1, theta2: np.sqrt(x1**2 + x2**2 - 2 * x1 * x2 * np.cos(theta1 - theta2)),
    "Feynman-I.30.3": lambda Int_0, theta, n: Int_0 * np.sin(n * theta / 2) ** 2 / np.sin(theta / 2) ** 2,
    "Feynman-I.30.5": lambda lambd, d, n: np.arcsin(lambd / (n * d)),
    "Feynman-I.32.5": lambda q, a, epsilon, c: q**2 * a**2 / (6 * np.pi * epsilon * c**3),
    "Feynman-I.32.17": lambda epsilon, c, Ef, r, omega, omega_0: (
        (1 / 2 * epsilon * c * Ef**2) * (8 * np.pi * r**2 / 3) * (omega**4 / (omega**2 - omega_0**2) ** 2)
    ),
    "Feynman-I.34.8": lambda q, v, B, p: q * v * B / p,
    "Feynman-I.34.1": lambda c, v, omega_0: omega_0 / (1 - v / c),
    "Feynman-I.34.14": lambda c, v, omega_0: (1 + v / c) / np.sqrt(1 - v**2 / c**2) * omega_0,
    "Feynman-I.34.27": lambda omega, h: (h / (2 * np.pi)) * omega,
    "Feynman-I.37.4": lambda I1, I2, delta: I1 + I2 + 2 * np.sqrt(I1 * I2) * np.cos(delta),
    "Feynman-I.38.12": lambda m, q, h, epsilon: 4 * np.pi * epsilon * (h / (2 * np.pi)) ** 2 / (m * q**2),
    "Feynman-I.39.1": lambda pr, V: 3 / 2 * pr * V,
    "Feynman-I.39.11": lambda gamma, pr, V: 1 / (gamma - 1) * pr * V,
    "Feynman-I.39.22": lambda n, T, V, kb: n * kb * T / V,
    "Feynman-I.40.1": lambda n_0, m, x, T, g, kb: n_0 * np.exp(-m * g * x / (kb * T)),
    "Feynman-I.41.16": lambda omega, T, h, kb, c: (
        h / (2 * np.pi) * omega**3 / (np.pi**2 * c**2 * (np.exp((h / (2 * np.pi)) * omega / (kb * T)) - 1))
    ),
    "Feynman-I.43.16": lambda mu_drift, q, Volt, d: mu_drift * q * Volt / d,
    "Feynman-I.43.31": lambda mob, T, kb: mob * kb * T,
    "Feynman-I.43.43": lambda gamma, kb, A, v: 1 / (gamma - 1) * kb * v / A,
    "Feynman-I.44.4": lambda n, kb, T, V1, V2: n * kb * T * np.log(V2 / V1),
    "Feynman-I.47.23": lambda gamma, pr, rho: np.sqrt(gamma * pr / rho),
    "Feynman-I.48.2": lambda m, v, c: m * c**2 / np.sqrt(1 - v**2 / c**2),
    "Feynman-I.50.26": lambda x1, omega, t, alpha: x1 * (np.cos(omega * t) + alpha * np.cos(omega * t) ** 2),
    "Feynman-II.2.42": lambda kappa, T1, T2, A, d: kappa * (T2 - T1) * A / d,
    "Feynman-II.3.24": lambda Pwr, r: Pwr / (4 * np.pi * r**2),
    "Feynman-II.4.23": lambda q, epsilon, r: q / (4 * np.pi * epsilon * r),
    "Feynman-II.6.11": lambda epsilon, p_d, theta, r: 1 / (4 * np.pi * epsilon) * p_d * np.cos(theta) / r**2,
    "Feynman-II.6.15a": lambda epsilon, p_d, r, x, y, z: (
        p_d / (4 * np.pi * epsilon) * 3 * z / r**5 * np.sqrt(x**2 + y**2)
    ),
    "Feynman-II.6.15b": lambda epsilon, p_d, theta, r: (
        p_d / (4 * np.pi * epsilon) * 3 * np.cos(theta) * np.sin(theta) / r**3
    ),
    "Feynman-II.8.7": lambda q, epsilon, d: 3 / 5 * q**2 / (4 * np.pi * epsilon * d),
    "Feynman-II.8.31": lambda epsilon, Ef: epsilon * Ef**2 / 2,
    "Feynman-II.10.9": lambda sigma_den, epsilon, chi: sigma_den / epsilon * 1 / (1 + chi),
    "Feynman-II.11.3": lambda q, Ef, m, omega_0, omega: q * Ef / (m * (omega_0**2 - omega**2)),
    "Feynman-II.11.17": lambda n_0, kb, T, theta, p_d, Ef: n_0 * (1 + p_d * Ef * np.cos(theta) / (kb * T)),
    "Feynman-II.11.20": lambda n_rho, p_d, Ef, kb, T: n_rho * p_d**2 * Ef / (3 * kb * T),
    "Feynman-II.11.27": lambda n, alpha, epsilon, Ef: n * alpha / (1 - (n * alpha / 3)) * epsilon * Ef,
    "Feynman-II.11.28": lambda n, alpha: 1 + n * alpha / (1 - (n * alpha / 3)),
    "Feynman-II.13.17": lambda epsilon, c, I, r: 1 / (4 * np.pi * epsilon * c**2) * 2 * I / r,
    "Feynman-II.13.23": lambda rho_c_0, v, c: rho_c_0 / np.sqrt(1 - v**2 / c**2),
    "Feynman-II.13.34": lambda rho_c_0, v, c: rho_c_0 * v / np.sqrt(1 - v**2 / c**2),
    "Feynman-II.15.4": lambda mom, B, theta: -mom * B * np.cos(theta),
    "Feynman-II.15.5": lambda p_d, Ef, theta: -p_d * Ef * np.cos(theta),
    "Feynman-II.21.32": lambda q, epsilon, r, v, c: q / (4 * np.pi * epsilon * r * (1 - v / c)),
    "Feynman-II.24.17": lambda omega, c, d: np.sqrt(omega**2 / c**2 - np.pi**2 / d**2),
    "Feynman-II.27.16": lambda epsilon, c, Ef: epsilon * c * Ef**2,
    "Feynman-II.27.18": lambda epsilon, Ef: epsilon * Ef**2,
    "Feynman-II.34.2a": lambda q, v, r: q * v / (2 * np.pi * r),
    "Feynman-II.34.2": lambda q, v, r: q * v * r / 2,
    "Feynman-II.34.11": lambda g_, q, B, m: g_ * q * B / (2 * m),
    "Feynman-II.34.29a": lambda q, h, m: q * h / (4 * np.pi * m),
    "Feynman-II.34.29b": lambda g_, h, Jz, mom, B: g_ * mom * B * Jz / (h / (2 * np.pi)),
    "Feynman-II.35.18": lambda n_0, kb, T, mom, B: n_0 / (np.exp(mom * B / (kb * T)) + np.exp(-mom * B / (kb * T))),
    "Feynman-II.35.21": lambda n_rho, mom, B, kb, T: n_rho * mom * np.tanh(mom * B / (kb * T)),
    "Feynman-II.36.38": lambda mom, H, kb, T, alpha, epsilon, c, M: (
        mom * H / (kb * T) + (mom * alpha) / (epsilon * c**2 * kb * T) * M
    ),
    "Feynman-II.37.1": lambda mom, B, chi: mom * (1 + chi) * B,
    "Feynman-II.38.3": lambda Y, A, d, x: Y * A * x / d,
    "Feynman-II.38.14": lambda Y, sigma: Y / (2 * (1 + sigma)),
    "Feynman-III.4.32": lambda h, omega, kb, T: 1 / (np.exp((h / (2 * np.pi)) * omega / (kb * T)) - 1),
    "Feynman-III.4.33": lambda h, omega, kb, T: (
        (h / (2 * np.pi)) * omega / (np.exp((h / (2 * np.pi)) * omega / (kb * T)) - 1)
    ),
    "Feynman-III.7.38": lambda mom, B, h: 2 * mom * B / (h / (2 * np.pi)),
    "Feynman-III.8.54": lambda E_n, t, h: np.sin(E_n * t / (h / (2 * np.pi))) ** 2,
    "Feynman-III.9.52": lambda p_d, Ef, t, h, omega, omega_0: (
        (p_d * Ef * t / (h / (2 * np.pi))) * np.sin((omega - omega_0) * t / 2) ** 2 / ((omega - omega_0) * t / 2) ** 2
    ),
    "Feynman-III.10.19": lambda mom, Bx, By, Bz: mom * np.sqrt(Bx**2 + By**2 + Bz**2),
    "Feynman-III.12.43": lambda n, h: n * (h / (2 * np.pi)),
    "Feynman-III.13.18": lambda E_n, d, k, h: 2 * E_n * d**2 * k / (h / (2 * np.pi)),
    "Feynman-III.14.14": lambda I_0, q, Volt, kb, T: I_0 * (np.exp(q * Volt / (kb * T)) - 1),
    "Feynman-III.15.12": lambda U, k, d: 2 * U * (1 - np.cos(k * d)),
    "Feynman-III.15.14": lambda h, E_n, d: (h / (2 * np.pi)) ** 2 / (2 * E_n * d**2),
    "Feynman-III.15.27": lambda alpha, n, d: 2 * np.pi * alpha / (n * d),
    "Feynman-III.17.37": lambda beta, alpha, theta: beta * (1 + alpha * np.cos(theta)),
    "Feynman-III.19.51": lambda m, q, h, n, epsilon: (
        -m * q**4 / (2 * (4 * np.pi * epsilon) ** 2 * (h / (2 * np.pi)) ** 2) * (1 / n**2)
    ),
    "Feynman-III.21.20": lambda rho_c_0, q, A_vec, m: -rho_c_0 * q * A_vec / m,
    "Feynman-bonus-1": lambda Z_1, Z_2, alpha, hbar, c, E_n, theta: (
        (Z_1 * Z_2 * alpha * hbar * c / (4 * E_n * np.sin(theta / 2) ** 2)) ** 2
    ),
    "Feynman-bonus-2": lambda m, k_G, L, E_n, theta1, theta2: (
        m * k_G / L**2 * (1 + np.sqrt(1 + 2 * E_n * L**2 / (m * k_G**2)) * np.cos(theta1 - theta2))
    ),
    "Feynman-bonus-3": lambda d, alpha, theta1, theta2: d * (1 - alpha**2) / (1 + alpha * np.cos(theta1 - theta2)),
    "Feynman-bonus-4": lambda m, E_n, U, L, r: np.sqrt(2 / m * (E_n - U - L**2 / (2 * m * r**2))),
    "Feynman-bonus-5": lambda d, G, m1, m2: 2 * np.pi * d ** (3 / 2) / np.sqrt(G * (m1 + m2)),
    "Feynman-bonus-6": lambda epsilon, L, m, Z_1, Z_2, q, E_n: np.sqrt(
        1 + 2 * epsilon**2 * E_n * L**2 / (m * (Z_1 * Z_2 * q**2) ** 2)
    ),
    "Feynman-bonus-7": lambda G, rho, alpha, c, d: np.sqrt(8 * np.pi * G * rho / 3 - alpha * c**2 / d**2),
    "Feynman-bonus-8": lambda E_n, m, c, theta: E_n / (1 + E_n / (m * c**2) * (1 - np.cos(theta))),
    "Feynman-bonus-9": lambda G, c, m1, m2, r: -32 / 5 * G**4 / c**5 * (m1 * m2) ** 2 * (m1 + m2) / r**5,
    "Feynman-bonus-10": lambda c, v, theta2: np.arccos((np.cos(theta2) - v / c) / (1 - v / c * np.cos(theta2))),
    "Feynman-bonus-11": lambda I_0, alpha, delta, n: (
        I_0 * (np.sin(alpha / 2) * np.sin(n * delta / 2) / (alpha / 2 * np.sin(delta / 2))) ** 2
    ),
    "Feynman-bonus-12": lambda q, y, Volt, d, epsilon: (
        q / (4 * np.pi * epsilon * y**2) * (4 * np.pi * epsilon * Volt * d - q * d * y**3 / (y**2 - d**2) ** 2)
    ),
    "Feynman-bonus-13": lambda q, r, d, alpha, epsilon: (
        1 / (4 * np.pi * epsilon) * q / np.sqrt(r**2 + d**2 - 2 * r * d * np.cos(alpha))
    ),
    "Feynman-bonus-14": lambda Ef, theta, r, d, alpha: (
        Ef * np.cos(theta) * (-r + d**3 / r**2 * (alpha - 1) / (alpha + 2))
    ),
    "Feynman-bonus-15": lambda c, v, omega, theta: np.sqrt(1 - v**2 / c**2) * omega / (1 + v / c * np.cos(theta)),
    "Feynman-bonus-16": lambda m, c, p, q, A_vec, Volt: np.sqrt((p - q * A_vec) ** 2 * c**2 + m**2 * c**4) + q * Volt,
    "Feynman-bonus-17": lambda m, omega, p, y, x, alpha: (
        1 / (2 * m) * (p**2 + m**2 * omega**2 * x**2 * (1 + alpha * x / y))
    ),
    "Feynman-bonus-18": lambda G, k_f, r, H_G, c: 3 / (8 * np.pi * G) * (c**2 * k_f / r**2 + H_G**2),
    "Feynman-bonus-19": lambda G, k_f, r, H_G, alpha, c: (
        -1 / (8 * np.pi * G) * (c**4 * k_f / r**2 + H_G**2 * c**2 * (1 - 2 * alpha))
    ),
    "Feynman-bonus-20": lambda omega, omega_0, alpha, h, m, c, beta: (
        1
        / (4 * np.pi)
        * alpha**2
        * h**2
        / (m**2 * c**2)
        * (omega_0 / omega) ** 2
        * (omega_0 / omega + omega / omega_0 - np.sin(beta) ** 2)
    ),
}

# The last point of the first trajectory of each system, and the rates there, in the published data.
LAST_POINTS = {
    "bacres": (11.061110466246701, 54.4451763341321, -0.747206131812305, 0.3139043344343689),
    "barmag": (5.98625733320336, 6.57978673609747, 0.0129388602304137, -0.0126265892469739),
    "glider": (0.829830140811775, 28.7652192235257, 0.43697596614135203, 1.8925968505217001),
    "lv": (1.51029032243065e-05, 1.99996807990445, -1.51021671497641e-05, 3.36338478543752e-05),
    "predprey": (2.2700479020456, 6.62354733121526, -0.6709532297688431, 1.30767391670595),
    "shearflow": (1.44902128299501, -1.7216377208376297, 0.0184635999870647, 0.119431930078375),
    "vdp": (1.03213503271946, 0.17871590055872, 1.56248823560056, -0.10321350327194599),
}

PHYSICS = (*benchmarks.SETS["Feynman"], *benchmarks.SETS["Feynman-bonus"])


def test_the_sets_are_as_large_as_published() -> None:
    assert {name: len(benchmarks.SETS[name]) for name in ("Feynman", "Feynman-bonus", "Strogatz")} == {
        "Feynman": 100,
        "Feynman-bonus": 20,
        "Strogatz": 14,
    }
    assert tuple(PUBLISHED) == PHYSICS


@pytest.mark.parametrize("name", PUBLISHED)
def test_targets_columns_and_rows_are_those_of_the_database(name: str) -> None:
    found, formula = benchmarks.get(name), PUBLISHED[name]
    assert isinstance(found.train, tuple)
    assert found.names == formula.__code__.co_varnames
    for data in found.datasets():
        assert len(data) == 1_000
        np.testing.assert_allclose(data.y, formula(*data.X.T), rtol=1e-11)
        for column, rule in zip(data.X.T, found.train, strict=True):
            assert isinstance(rule, Uniform)
            assert rule.low <= column.min() < column.max() <= rule.high


def without_powers(target: Expression) -> Expression:
    """Write whole and half powers as products and roots: `pow` is an operator of pure numbers."""
    writer = Writer(target.library.with_constant())
    waiting: list[Row] = []
    for token in reversed(target.tokens):
        arguments = [waiting.pop() for _ in range(token.arity)]
        if token.name == "pow":
            halves = 2.0 * writer.library[arguments[1].ids[0]].value
            assert halves == int(halves)
            power = writer.raised(arguments[0], int(halves) if halves % 2 else int(halves) // 2)
            waiting.append(writer.apply("sqrt", power) if halves % 2 else power)
        else:
            waiting.append(Row.joined((Row.leaf(writer.library.tokens.index(token)), *arguments)))
    (row,) = waiting
    return Expression(writer.library, row)


def has_dimension(found: Problem, unit: str) -> bool:
    assert found.target is not None
    assert found.units is not None
    target = without_powers(found.target)
    rule = Dimensions.of(found.names, found.units.columns, unit)
    try:
        return SearchSpace(target.library, min_length=1, max_length=100, constraints=(rule,)).allows(target)
    except SpaceError:  # no formula at all has the dimension
        return False


@pytest.mark.parametrize("name", PHYSICS)
def test_the_unit_of_the_target_follows_from_those_of_the_columns_and_no_other_does(name: str) -> None:
    found = benchmarks.get(name)
    assert found.units is not None
    assert len(found.units.columns) == len(found.names)
    assert has_dimension(found, found.units.target)
    assert not has_dimension(found, f"({found.units.target})*m")
    assert found.dimensions == Dimensions.of(found.names, found.units.columns, found.units.target)


def test_operators_are_the_default_ones_of_the_estimator_and_the_one_that_a_target_needs() -> None:
    defaults = SymbolicRegressor()
    names = [ALIASES.get(str(name), str(name)) for name in (*defaults.binary_operators, *defaults.unary_operators)]
    further = {
        "Feynman-I.26.2": ["asin"],
        "Feynman-I.30.5": ["asin"],
        "Feynman-II.35.21": ["tanh"],
        "Feynman-bonus-10": ["acos"],
    }
    for name in (*PHYSICS, *benchmarks.SETS["Strogatz"]):
        library = benchmarks.get(name).library
        own = [token.name for token in library.tokens if token.kind is not TokenKind.VARIABLE]
        assert own == [*names, *further.get(name, []), "const"], name


@pytest.mark.parametrize("name", LAST_POINTS)
def test_trajectories_and_rates_are_the_published_ones(name: str) -> None:
    first, second = (benchmarks.get(f"Strogatz-{name}{state}").datasets()[0] for state in (1, 2))
    assert first.X.shape == (400, 2)
    assert np.array_equal(first.X, second.X)
    x1, x2, rate1, rate2 = LAST_POINTS[name]
    np.testing.assert_allclose([*first.X[99], first.y[99], second.y[99]], [x1, x2, rate1, rate2], rtol=1e-11)
    rule = benchmarks.get(f"Strogatz-{name}1").train
    assert isinstance(rule, Trajectories)
    assert np.array_equal(first.X[::100], np.array(rule.starts))


def test_the_first_state_moves_at_a_held_rate_and_the_second_by_the_method_of_third_order() -> None:
    library = Library.of(["mul", "neg", 1.0], 2)
    rates = (Expression.parse("x2", library), Expression.parse("-x2", library))
    points = Trajectories(rates, ((0.0, 1.0),), 0.1, 3).points()
    decay = 1.0 - 0.1 + 0.1**2 / 2 - 0.1**3 / 6  # the series of exp, as far as the method's order
    np.testing.assert_allclose(points[:, 1], [1.0, decay, decay**2], rtol=1e-15)
    np.testing.assert_allclose(points[:, 0], [0.0, 0.1, 0.1 + 0.1 * decay], rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "formula", "is_right"),
    [
        ("Feynman-I.12.2", "0.0794 * q1 * q2 / (epsilon * r * r)", True),
        ("Feynman-I.12.2", "0.0794 * q1 * q2 / (epsilon * r * r) + 0.0001", False),
        ("Feynman-I.12.2", "0.0794 * q1 * q2 / (epsilon * r * r + 0.001)", False),
        ("Feynman-I.15.1", "v * m_0 * c / sqrt(c * c - 1.003 * v * v)", True),
        ("Feynman-I.44.4", "1.002 * kb * T * n * (log(V2) - log(V1))", True),
        ("Strogatz-lv2", "2.003 * x2 - 0.998 * x1 * x2 - 1.002 * x2 * x2", True),
        ("Strogatz-lv2", "2.003 * x2 - 0.998 * x1 * x2 - 1.002 * x2 * x2 - 0.001 * x1", False),
    ],
)
def test_with_noise_the_form_is_judged_and_its_constants_are_free(
    name: str, formula: str, is_right: bool, checker: Checker
) -> None:
    found = benchmarks.get(name)
    assert found.target is not None
    library = Library.of([*(token for token in found.library.tokens if token.kind is TokenKind.OPERATOR)], found.names)
    given = Expression.parse(formula, library.with_constant())
    verdict = checker.check(given, found.target, found.datasets()[1], refit=True).verdict
    assert (verdict.name == "EXACT") == is_right
