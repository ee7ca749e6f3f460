"""Parameters of other tools (PySR, gplearn, pyoperon, TuringBot, DSO), and what replaces them in symseed."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping

from symseed.errors import did_you_mean

_OURS: Mapping[str, str] = types.MappingProxyType(
    {
        **dict.fromkeys(
            ("niterations", "max_evaluations", "n_samples", "evaluations", "max_iterations", "ncycles_per_iteration"),
            "max_evals",
        ),
        **dict.fromkeys(("generations", "iterations", "n_iter", "epochs"), "max_evals or max_time"),
        **dict.fromkeys(("timeout_in_seconds", "timeout", "time_limit", "time", "max_seconds", "seconds"), "max_time"),
        **dict.fromkeys(
            ("operators", "ops", "function_set", "functions", "allowed_symbols", "allowed_functions", "symbols"),
            "binary_operators and unary_operators",
        ),
        **dict.fromkeys(
            ("max_length", "max_size", "maxdepth", "max_depth", "max_complexity", "maximum_formula_complexity"),
            "maxsize",
        ),
        **dict.fromkeys(
            ("procs", "threads", "n_threads", "num_threads", "n_cores", "n_cores_batch", "n_procs", "jobs"), "n_jobs"
        ),
        **dict.fromkeys(("seed", "random_seed", "rng", "random"), "random_state"),
        **dict.fromkeys(("verbose", "progress", "update_verbosity"), "verbosity"),
        **dict.fromkeys(
            (
                *("elementwise_loss", "loss_function", "loss_function_expression", "metric", "search_metric"),
                *("custom_metric", "objectives"),
            ),
            "loss",
        ),
        **dict.fromkeys(
            ("stopping_criteria", "threshold", "early_stop", "early_stopping", "epsilon"), "early_stop_condition"
        ),
        **dict.fromkeys(("model_selection_criterion", "selection", "criterion"), "model_selection"),
        **dict.fromkeys(("test", "test_sample", "train_test_split", "test_share", "validation_size"), "test_size"),
        **dict.fromkeys(("tempdir", "logdir", "outfile", "output", "equation_file", "run_id"), "output_directory"),
        **dict.fromkeys(("algorithm", "trainer", "policy_type"), "method"),
        **dict.fromkeys(("expression_spec", "custom_formula"), "template"),
    }
)
"""The setting of symseed for a parameter of another tool."""

_INSTEAD: Mapping[str, str] = types.MappingProxyType(
    {
        **dict.fromkeys(("weights", "sample_weights"), "Give the rows' weights to fit, as sample_weight."),
        "uncertainty": "The size of the noise is estimated; give known standard errors to fit, as y_err.",
        "prior": "Use constraints and nested_constraints; SearchSpace takes all those of the paper.",
        **dict.fromkeys(
            ("category", "categories", "class_column"),
            "Name the column in template: const[column] is a constant for each.",
        ),
        "custom_functions": "Put Python functions among the operators.",
        **dict.fromkeys(
            ("feature_names", "variable_names"), "Formulas use the columns' names of a data frame given to fit."
        ),
        **dict.fromkeys(("X_units", "y_units", "units"), "Give units to fit, as X_units and y_units."),
        **dict.fromkeys(
            ("parsimony", "parsimony_coefficient", "adaptive_parsimony_scaling", "fitness_penalty"),
            "The length of a formula is weighed by model_selection, without a coefficient.",
        ),
        **dict.fromkeys(
            (
                *("should_optimize_constants", "optimizer", "optimizer_iterations", "local_search_probability"),
                *("const_range", "const_optimizer"),
            ),
            "Constants are always fitted.",
        ),
        **dict.fromkeys(("deterministic", "parallelism"), "The same random_state gives the same answer in any case."),
        **dict.fromkeys(
            ("turbo", "bumper", "precision", "low_memory"), "Formulas are computed in float64, by compiled code."
        ),
        **dict.fromkeys(
            ("batching", "max_samples"), "The search uses at most 10,000 rows, drawn at random, without a setting."
        ),
        **dict.fromkeys(
            ("extra_sympy_mappings", "extra_torch_mappings", "extra_jax_mappings"),
            "A Python function among the operators needs no mapping.",
        ),
        **dict.fromkeys(
            (
                *("populations", "population_size", "pool_size", "tournament_size", "tournament_selection_n"),
                *("crossover_probability", "mutation_probability", "p_crossover", "p_subtree_mutation"),
                *("p_hoist_mutation", "p_point_mutation", "p_point_replace", "init_depth", "init_method", "batch_size"),
                *("learning_rate", "entropy_weight"),
            ),
            "That is part of the method; `symseed methods` lists them.",
        ),
    }
)
"""Advice for a parameter of another tool without a corresponding setting."""


def answer(name: str) -> str:
    """Return a sentence, with a space before it, for a parameter of another tool; "" if it is unknown."""
    if name in _OURS:
        return f" Use {_OURS[name]}."
    return f" {_INSTEAD[name]}" if name in _INSTEAD else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a sentence, with a space before it, that names the setting for an unknown name, or all settings."""
    names = list(known)
    return answer(name) or did_you_mean(name, names) or f" The settings are {', '.join(names)}."
