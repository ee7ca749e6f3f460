"""Small measured tables with accepted laws: whether the law is on the front, and whether it is chosen.

    python perf/small_tables.py [--tables boyle trees] [--max-evals 50000] [--seed 0] [--json build/tables.json]

Each table ships with symseed; `src/symseed/tables/shipped/README.md` says where it comes from. A law is written in our
own language, every number in it a constant whose value is free. A formula has the law's form if the law, its constants
fitted to the formula's own predictions, gives them back, as `laws.py` judges it, and the formula those of the law that
is fitted to the data. The estimator has its default settings, but for a limit in expressions. The tables marked with *
were chosen, and their laws written down, before any fit of them; the others were looked at while rules were chosen.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import laws
from symseed import Dataset, Expression, SymbolicRegressor, tables
from symseed.language.population import Population
from symseed.scoring.evaluation import fit_to_convergence


@dataclass(frozen=True)
class Measured:
    """A table, and the law that its source or every textbook gives for it."""

    name: str
    inputs: tuple[str, ...]
    target: str
    law: str
    called: str
    is_law: bool = True
    """Whether it is a law of nature, the only one that the source accepts, and not the model of a textbook."""
    is_fresh: bool = False
    """Whether rules were chosen without a look at what they do to the table."""


TABLES = (
    Measured("planets", ("axis_au",), "period_days", "365.0 * axis_au * sqrt(axis_au)", "Kepler's third law"),
    Measured("jupiter_moons", ("axis_1000km",), "period_days", "2e-4 * axis_1000km * sqrt(axis_1000km)", "the same"),
    Measured("hubble", ("distance_mpc",), "velocity_km_s", "424.0 * distance_mpc", "Hubble's law"),
    Measured("boyle", ("volume",), "pressure_inches", "1400.0 / volume", "Boyle's law"),
    Measured("galileo", ("height_points",), "distance_points", "47.0 * sqrt(height_points)", "horizontal throw"),
    Measured("ohm", ("length_inches",), "current", "7285.0 / (20.25 + length_inches)", "Ohm's law"),
    Measured(
        "balmer", ("level",), "wavelength_nm", "364.6 * square(level) / (square(level) - 4.0)", "Balmer's formula"
    ),
    Measured(
        "carbon_filament",
        ("temperature_kk",),
        "energy",
        "0.72 * square(square(temperature_kk))",
        "Stefan and Boltzmann's law",
    ),
    Measured("formaldehyde", ("carbohydrate_ml",), "optical_density", "0.88 * carbohydrate_ml", "Beer's law"),
    Measured(
        "puromycin",
        ("concentration_ppm",),
        "rate",
        "212.0 * concentration_ppm / (0.064 + concentration_ppm)",
        "Michaelis and Menten's law",
    ),
    Measured("inclined_plane", ("time",), "distance_points", "33.0 * square(time)", "Galileo's law of fall"),
    Measured("galaxies", ("distance_mpc",), "velocity_km_s", "76.0 * distance_mpc", "Hubble's law"),
    Measured(
        "scattering",
        ("angle_rad",),
        "scintillations",
        "30.0 / square(square(sin(0.5 * angle_rad)))",
        "Rutherford's scattering",
    ),
    Measured("x_rays", ("atomic_number",), "wavelength_pm", "121000.0 / square(atomic_number - 1.0)", "Moseley's law"),
    Measured(
        "microwaves",
        ("wavenumber_per_cm",),
        "intensity_mjy_sr",
        "39.7 * wavenumber_per_cm * square(wavenumber_per_cm) / (exp(0.528 * wavenumber_per_cm) - 1.0)",
        "Planck's law",
    ),
    Measured("hydrogen_iodide", ("temperature_k",), "rate", "exp(25.0 - 22000.0 / temperature_k)", "Arrhenius' law"),
    Measured(
        "mercury_vapour",
        ("temperature_k",),
        "pressure_mmhg",
        "exp(18.0 - 7200.0 / temperature_k)",
        "Clausius and Clapeyron's law",
        is_law=False,
    ),
    Measured(
        "adsorption",
        ("pressure",),
        "volume",
        "0.13 * pressure / (1 + 4e-4 * pressure)",
        "Langmuir's isotherm",
        is_law=False,
    ),
    Measured(
        "trees", ("girth_in", "height_ft"), "volume_ft3", "0.002 * square(girth_in) * height_ft", "a cone", is_law=False
    ),
    Measured(
        "viscometer",
        ("weight_g", "viscosity_cp"),
        "time_s",
        "29.4 * viscosity_cp / (weight_g - 2.2)",
        "Stormer's viscometer",
        is_law=False,
    ),
    Measured(
        "weight_loss",
        ("days",),
        "weight_kg",
        "81.0 + 103.0 * exp(-(0.005 * days))",
        "exponential decay to a level",
        is_law=False,
    ),
    Measured(
        "oxygen_demand", ("days",), "oxygen_mg_l", "214.0 * (1 - exp(-(0.55 * days)))", "decay of order 1", is_law=False
    ),
    Measured("pasture", ("time",), "yield", "72.0 / (1 + exp(2.6 - 0.067 * time))", "logistic growth", is_law=False),
    Measured(
        "interference",
        ("wavelength_nm",),
        "transmittance",
        "0.38 * exp(-(0.03 * square(wavelength_nm - 451.5)))",
        "a Gaussian line",
        is_law=False,
    ),
    Measured("photoelectric", ("frequency_thz",), "voltage", "0.0041 * frequency_thz - 1.7", "Einstein's law"),
    Measured(
        "acetaldehyde",
        ("temperature_k",),
        "rate",
        "exp(27.7 - 22600.0 / temperature_k)",
        "Arrhenius' law",
    ),
    Measured(
        "acetaldehyde_decay",
        ("time_s",),
        "concentration",
        "13.0 / (65.0 + time_s)",
        "a rate of second order",
    ),
    Measured(
        "pentoxide",
        ("time_s",),
        "concentration",
        "2.33 * exp(-(6.2e-4 * time_s))",
        "a rate of first order",
    ),
    Measured("azomethane", ("time_s",), "pressure_pa", "10.9 * exp(-(3.6e-4 * time_s))", "the same"),
    Measured("thorium", ("time_h",), "current", "100.0 * exp(-(0.063 * time_h))", "radioactive decay"),
    Measured("thorium_x", ("time_d",), "activity", "150.0 * exp(-(0.173 * time_d))", "the same"),
    Measured(
        "osmosis",
        ("concentration_percent",),
        "pressure_mmhg",
        "520.0 * concentration_percent",
        "van 't Hoff's law",
    ),
    Measured(
        "charcoal",
        ("pressure_kpa",),
        "volume_cm3",
        "110.0 * pressure_kpa / (130.0 + pressure_kpa)",
        "Langmuir's isotherm",
    ),
    Measured(
        "mica",
        ("pressure_bar",),
        "adsorbed_mm3",
        "38.0 * pressure_bar / (6.0 + pressure_bar)",
        "the same",
    ),
    Measured(
        "duckweed",
        ("concentration",),
        "rate",
        "126.0 * concentration / (17.0 + concentration)",
        "Michaelis and Menten's law",
    ),
    Measured("spring", ("mass_kg",), "length_m", "0.63 * mass_kg", "Hooke's law"),
    Measured(
        "cavity",
        ("temperature_k",),
        "deflection",
        "1.15e-8 * (square(square(temperature_k)) - 6e9)",
        "Stefan and Boltzmann's law",
    ),
    Measured(
        "himalaya",
        ("temperature_k",),
        "pressure_inches",
        "exp(16.7 - 4960.0 / temperature_k)",
        "Clausius and Clapeyron's law",
    ),
    Measured(
        "radiocarbon",
        ("age_years",),
        "activity_cpm_g",
        "12.9 * exp(-(1.3e-4 * age_years))",
        "radioactive decay",
    ),
    Measured(
        "helium",
        ("wavelength_um",),
        "refractivity_ppm",
        "34.5 * square(wavelength_um) / (square(wavelength_um) - 0.0025)",
        "Sellmeier's law",
    ),
    Measured(
        "xenon",
        ("wavelength_um",),
        "refractive_index",
        "sqrt(1 + 1.16 * square(wavelength_um) / (square(wavelength_um) - 0.012))",
        "the same",
    ),
    Measured(
        "hydrogen",
        ("lower_level", "upper_level"),
        "wavelength_nm",
        "91.2 / (1 / square(lower_level) - 1 / square(upper_level))",
        "Rydberg's formula",
    ),
    Measured(
        "glyoxalase",
        ("people_11", "people_22"),
        "people_12",
        "2.05 * sqrt(people_11 * people_22)",
        "Hardy and Weinberg's law",
    ),
    Measured(
        "uranium",
        ("energy_mev",),
        "log_half_life_s",
        "143.0 / sqrt(energy_mev) - 52.0",
        "Geiger and Nuttall's law",
    ),
    Measured("peas", ("plants",), "dominant", "0.75 * plants", "Mendel's law of segregation"),
    Measured(
        "primates",
        ("mass_g",),
        "metabolism_w",
        "0.014 * sqrt(mass_g * sqrt(mass_g))",
        "Kleiber's law",
    ),
    Measured(
        "specific_heats",
        ("atomic_weight",),
        "specific_heat",
        "6.0 / atomic_weight",
        "Dulong and Petit's law",
    ),
    Measured(
        "gamma_rays",
        ("distance_m",),
        "counts",
        "114.0 + 31.5 / square(distance_m)",
        "an inverse square on a background",
    ),
    Measured(
        "yeast",
        ("hours",),
        "biomass",
        "663.0 / (1 + exp(4.27 - 0.547 * hours))",
        "Verhulst's law",
    ),
    Measured(
        "sunflower",
        ("days",),
        "height_cm",
        "261.0 / (1 + exp(3.01 - 0.0877 * days))",
        "the same",
    ),
    Measured(
        "irradiation",
        ("exposure",),
        "survivors",
        "383.0 * exp(-(0.217 * exposure))",
        "death by a single hit",
    ),
    Measured(
        "vibrio",
        ("time_min",),
        "absorbance",
        "0.022 * exp(0.0315 * time_min)",
        "growth by division",
    ),
    Measured(
        "trityl",
        ("time_min",),
        "concentration",
        "7.95 / (159.0 + time_min)",
        "a rate of second order",
    ),
    Measured(
        "urease",
        ("urea",),
        "rate",
        "1.23 * urea / (0.0248 + urea)",
        "Michaelis and Menten's law",
    ),
    Measured(
        "enzyme",
        ("substrate",),
        "rate",
        "190.0 * substrate / (2.85 + substrate)",
        "the same",
    ),
    Measured(
        "zinc_blende",
        ("wavelength_um",),
        "refractive_index",
        "sqrt(1 + 4.09 * square(wavelength_um) / (square(wavelength_um) - 0.04))",
        "Sellmeier's law",
    ),
    Measured(
        "argon",
        ("wavelength_um",),
        "refractive_index",
        "sqrt(1 + 0.654 * square(wavelength_um) / (square(wavelength_um) - 0.00564))",
        "the same",
    ),
    Measured(
        "arrow",
        ("distance_yd",),
        "height_in",
        "distance_yd * (2.78 - 0.0914 * distance_yd)",
        "Galileo's parabola",
    ),
    Measured(
        "neutrons",
        ("energy_mev",),
        "cross_section_mb",
        "66900.0 / (square(energy_mev - 77.5) + 789.0)",
        "Breit and Wigner's law",
    ),
    Measured(
        "copper",
        ("temperature_k",),
        "conductivity_w_cm_k",
        "1 / (0.896 / temperature_k + 3.78e-5 * square(temperature_k))",
        "heat carried by electrons",
    ),
    Measured(
        "escherichia",
        ("days",),
        "cells",
        "6.05 / (1 + exp(6.26 - 1.59 * days))",
        "Verhulst's law",
        is_fresh=True,
    ),
    Measured(
        "paramecium",
        ("days",),
        "individuals",
        "530.0 / (1 + exp(5.4 - 0.797 * days))",
        "the same",
        is_fresh=True,
    ),
    Measured(
        "blood_groups",
        ("people_mm", "people_nn"),
        "people_mn",
        "1.87 * sqrt(people_mm * people_nn)",
        "Hardy and Weinberg's law",
        is_fresh=True,
    ),
    Measured(
        "steam",
        ("temperature_k",),
        "pressure",
        "exp(20.8 - 5280.0 / temperature_k)",
        "Clausius and Clapeyron's law",
        is_fresh=True,
    ),
    Measured(
        "acetic_acid",
        ("temperature_k",),
        "pressure_mmhg",
        "exp(19.2 - 4900.0 / temperature_k)",
        "the same",
        is_fresh=True,
    ),
    Measured(
        "garnet",
        ("wavelength_um",),
        "refractive_index",
        "sqrt(1 + 2.73 * square(wavelength_um) / (square(wavelength_um) - 0.0181))",
        "Sellmeier's law",
        is_fresh=True,
    ),
    Measured(
        "diamond",
        ("wavelength_um",),
        "refractive_index",
        "sqrt(1 + 4.65 * square(wavelength_um) / (square(wavelength_um) - 0.0137))",
        "the same",
        is_fresh=True,
    ),
    Measured(
        "carbon_monoxide",
        ("upper_level",),
        "frequency_ghz",
        "upper_level * (115.0 - 7.35e-4 * square(upper_level))",
        "a rotor that stretches",
        is_fresh=True,
    ),
    Measured(
        "carbon_sulphide",
        ("upper_level",),
        "frequency_ghz",
        "upper_level * (49.0 - 1.6e-4 * square(upper_level))",
        "the same",
        is_fresh=True,
    ),
    Measured(
        "lithium",
        ("level",),
        "energy_ev",
        "5.39 - 13.6 / square(level)",
        "Bohr's levels",
        is_fresh=True,
    ),
    Measured(
        "sodium",
        ("level",),
        "energy_ev",
        "5.13 - 13.2 / square(level - 0.917)",
        "Rydberg's levels with a defect",
        is_fresh=True,
    ),
    Measured(
        "pendulum",
        ("length_m",),
        "time_s",
        "19.8 * sqrt(length_m)",
        "Galileo's pendulum",
        is_fresh=True,
    ),
)
"""The first sixteen have a law of nature with a name, which their source accepts; the next eight have a model that
their textbook fits to them, or a law beside which the source has others. The last forty-eight have a law of
nature again."""


@dataclass(frozen=True)
class Outcome:
    """What a fit of a table gave."""

    table: str
    rows: int
    is_on_front: bool
    is_chosen: bool
    formula: str
    on_front: str
    cpu_seconds: float


def has_form(law: laws.Law, formula: Expression, data: Dataset) -> bool:
    """Return whether a formula has the form of a law, no simpler and no more general."""
    if laws.judge(law, formula.evaluate).form_error > laws.SAME_FORM:
        return False
    fitted = fit_to_convergence(Population.from_expressions([law.expression]), data, most=20)[0][0]
    reverse = replace(law, text=str(formula))
    return laws.judge(reverse, fitted.evaluate).form_error <= laws.SAME_FORM


def run(measured: Measured, max_evals: int, seed: int) -> Outcome:
    """Fit a table with the default settings, and judge each formula of the front."""
    table = tables.read_table(measured.name).frame
    X, y = table[list(measured.inputs)], table[measured.target]
    # Decimals as the table has them: ranges of the law, and numbers near those of its fit, from which a fit begins.
    law = laws.Law(measured.called, {name: (float(X[name].min()), float(X[name].max())) for name in X}, measured.law)
    data = Dataset.of(X, y, names=list(measured.inputs))
    started = time.process_time()
    model = SymbolicRegressor(max_evals=max_evals, max_time=None, n_jobs=1, random_state=seed).fit(X, y)
    seconds = time.process_time() - started
    found = [equation for equation in model.pareto_front_ if has_form(law, equation.expression, data)]
    return Outcome(
        measured.name,
        len(table),
        is_on_front=bool(found),
        is_chosen=any(equation is model.best_ for equation in found),
        formula=str(model.best_),
        on_front=str(found[0]) if found else "",
        cpu_seconds=round(seconds, 1),
    )


def report(outcomes: Sequence[Outcome]) -> str:
    """Show the outcomes as a table."""
    fresh = {measured.name for measured in TABLES if measured.is_fresh}
    named = {measured.name for measured in TABLES if measured.is_law}
    lines = [f"{'table':18}{'rows':>5}  {'on front':9}{'chosen':7}{'CPU s':>6}  formula"]
    for each in outcomes:
        name = f"{each.table}{'*' if each.table in fresh else ''}"
        front, chosen = ("yes" if one else "no" for one in (each.is_on_front, each.is_chosen))
        lines.append(f"{name:18}{each.rows:>5}  {front:9}{chosen:7}{each.cpu_seconds:>6.1f}  {each.formula}")
    for what, some in (
        ("laws of nature, not looked at", [each for each in outcomes if each.table in fresh]),
        ("laws of nature, looked at", [each for each in outcomes if each.table in named - fresh]),
        ("models of textbooks, looked at", [each for each in outcomes if each.table not in named]),
    ):
        on_front, best = sum(each.is_on_front for each in some), sum(each.is_chosen for each in some)
        lines.append(f"{what}: on the front in {on_front} of {len(some)}, chosen in {best}")
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    names = [measured.name for measured in TABLES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=names, default=names)
    parser.add_argument("--max-evals", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where outcomes go")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    outcomes = []
    for measured in TABLES:
        if measured.name in asked.tables:
            outcomes.append(run(measured, asked.max_evals, asked.seed))
            print(outcomes[-1], flush=True)
    if asked.json is not None:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1), encoding="utf-8")
    print(report(outcomes))


if __name__ == "__main__":
    main()
