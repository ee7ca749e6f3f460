"""The tables of parameters in coming-from.md, from what the estimator answers to the parameters of other tools.

python docs/coming_from.py           # write them
python docs/coming_from.py --check   # check that they are up to date
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Mapping
from pathlib import Path

from symseed.regressor import elsewhere
from symseed.regressor.settings import NAMES

PAGE = Path(__file__).parent / "coming-from.md"
SAME, NONE = "the same name", "no counterpart"

TOOLS: Mapping[str, tuple[str, ...]] = types.MappingProxyType(
    {
        "pysr": (
            *("niterations", "ncycles_per_iteration", "max_evals", "timeout_in_seconds", "early_stop_condition"),
            *("binary_operators", "unary_operators", "operators", "maxsize", "maxdepth"),
            *("constraints", "nested_constraints", "elementwise_loss", "loss_function", "model_selection", "parsimony"),
            *("adaptive_parsimony_scaling", "weights", "X_units", "y_units", "variable_names"),
            *("should_optimize_constants", "optimizer_iterations", "populations", "population_size"),
            *("crossover_probability", "tournament_selection_n", "procs", "parallelism", "deterministic"),
            *("random_state", "warm_start", "batching", "precision", "turbo", "bumper", "extra_sympy_mappings"),
            *("extra_torch_mappings", "extra_jax_mappings", "progress", "verbosity", "output_directory", "run_id"),
            *("tempdir", "select_k_features", "guesses", "expression_spec", "logger_spec", "denoise"),
            *("complexity_of_operators", "complexity_of_constants", "complexity_of_variables", "cluster_manager"),
        ),
        "gplearn": (
            *("generations", "stopping_criteria", "function_set", "metric", "const_range", "parsimony_coefficient"),
            *("init_depth", "init_method", "population_size", "tournament_size", "p_crossover", "p_subtree_mutation"),
            *("p_hoist_mutation", "p_point_mutation", "p_point_replace", "max_samples", "low_memory"),
            *("feature_names", "n_jobs", "verbose", "random_state", "warm_start"),
        ),
        "pyoperon": (
            *("max_evaluations", "generations", "max_time", "epsilon", "allowed_symbols", "max_length", "max_depth"),
            *("objectives", "optimizer", "optimizer_iterations", "local_search_probability"),
            *("model_selection_criterion", "uncertainty", "population_size", "pool_size", "tournament_size"),
            *("crossover_probability", "mutation_probability", "n_threads", "random_state", "warm_start"),
        ),
        "turingbot": (
            *("search_metric", "custom_metric", "allowed_functions", "custom_functions", "maximum_formula_complexity"),
            *("train_test_split", "test_sample", "threads", "outfile", "custom_formula", "integer_constants"),
            *("force_all_variables",),
        ),
        "dso": (
            *("n_samples", "function_set", "metric", "threshold", "max_length", "prior", "seed", "logdir"),
            *("n_cores_batch", "verbose", "early_stopping", "const_optimizer", "batch_size", "learning_rate"),
            *("entropy_weight", "tournament_size"),
        ),
    }
)
"""Parameters that people commonly set: PySR 2.7, gplearn 0.4, pyoperon 0.6, turingbot 3.3, DSO's configuration."""


def table(names: tuple[str, ...]) -> str:
    """Return a row for each answer, with the parameters that get it."""
    rows: dict[str, list[str]] = {}
    for name in names:
        rows.setdefault(here(name), []).append(f"`{name}`")
    order = sorted(rows, key=lambda answer: (answer == SAME, answer == NONE))
    lines = [f"| {', '.join(rows[answer])} | {answer} |" for answer in order]
    return "\n".join(["| there | here |", "|---|---|", *lines]) + "\n"


def here(name: str) -> str:
    """Return the entry of the page for a parameter."""
    if name in NAMES:
        return SAME
    found = elsewhere.answer(name).strip()
    short = re.sub(r"^Use (.*)\.$", r"\1", found)
    codes = (*NAMES, "sample_weight", "X_units", "y_units", "fit", "SearchSpace")
    parts = short.split("`")  # text between backticks is code already
    parts[::2] = [re.sub(rf"\b({'|'.join(codes)})\b", r"`\1`", part) for part in parts[::2]]
    return "`".join(parts) or NONE


def update(page: str) -> str:
    """Return the page with every table as it is now."""
    for tool, names in TOOLS.items():
        begin, end = f"<!-- begin {tool}: python docs/coming_from.py -->\n", f"<!-- end {tool} -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{table(names)}\n{end}{after}"
    return page


def main() -> None:
    """Write the tables, or check them."""
    page = PAGE.read_text(encoding="utf-8")
    written = update(page)
    if "--check" in sys.argv[1:]:
        sys.exit(written != page and f"{PAGE.name} is out of date: python docs/coming_from.py")
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
