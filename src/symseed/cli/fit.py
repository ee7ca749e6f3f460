"""The commands that search: fit and resume. `searching`, which is slow to load, does their work."""

from __future__ import annotations

import click

from symseed.cli import complete, options, run_names
from symseed.cli.table_options import missing_option, reading_options
from symseed.errors import SettingsError
from symseed.tables.options import TableOptions


@click.command(
    cls=options.Answering,
    epilog=options.examples(
        "symseed fit planets -y period_days",
        "symseed fit planets -y period_days --inputs axis_au --time 20 --seed 1",
        "symseed fit diabetes -y progression --test 0.2 --ops 'exp,log' --time 2m",
        "symseed fit planets -y period_days --set max_evals=20000 --set patience=none",
        "symseed fit hubble -y velocity_km_s --unit velocity_km_s=km/s --unit distance_mpc=Mpc",
    ),
)
@click.argument("data", shell_complete=complete.data)
@click.option(
    "-y",
    "--target",
    "targets",
    multiple=True,
    metavar="COLUMN",
    shell_complete=complete.column,
    help="Column to predict; may be repeated.",
)
@click.option(
    "--inputs",
    metavar="COLUMNS",
    shell_complete=complete.columns,
    help="Columns that formulas may use, such as a,b; text becomes categories.  [default: all other numbers]",
)
@click.option("--drop", metavar="COLUMNS", shell_complete=complete.columns, help="Columns that formulas may not use.")
@click.option("--weights", metavar="COLUMN", shell_complete=complete.column, help="Column with the rows' weights.")
@click.option(
    "--errors",
    "errors",
    multiple=True,
    metavar="[COLUMN=]ERRORS",
    help="Column with the standard errors of the target, or of COLUMN: target or input; may be repeated.",
)
@options.settings(
    "time",
    "ops",
    "seed",
    "test",
    "method",
    "maxsize",
    "template",
    "loss",
    "noise",
    "network",
    "jobs",
    "device",
    "islands",
    "scheduler",
)
@click.option(
    "--unit",
    "units",
    multiple=True,
    metavar="COLUMN=UNIT",
    help="Unit of a column, such as v=m/s; may be repeated.",
)
@click.option(
    "--guess",
    "guesses",
    multiple=True,
    metavar="FORMULA",
    help="Formula to begin with, such as 'const*m*v^2', whose numbers are fitted; may be repeated.",
)
@missing_option
@reading_options
@click.option("--config", type=click.Path(dir_okay=False), metavar="FILE", help="TOML file of settings.")
@options.changes
@click.option(
    "--output-directory", metavar="FOLDER", help=f"Parent of the run's folder.  [default: {run_names.PARENT}]"
)
@click.option("--in-memory", is_flag=True, help="Create no run folder; the run cannot be resumed.")
@options.as_json
def fit(
    data: str,
    targets: tuple[str, ...],
    inputs: str | None,
    drop: str | None,
    weights: str | None,
    errors: tuple[str, ...],
    units: tuple[str, ...],
    guesses: tuple[str, ...],
    missing: str,
    reading: TableOptions,
    config: str | None,
    changes: tuple[str, ...],
    output_directory: str | None,
    in_memory: bool,
    as_json: bool,
    **typed: str | None,
) -> None:
    """Search for formulas that predict a column of DATA.

    DATA is a table in text (CSV or similar), Excel, Parquet, Feather or JSON, `-` for standard input, or a table
    that ships with symseed, such as `planets`. A summary of what was read, used and left out comes first. If
    there are more than 10,000 rows, the search uses a random subset, and a warning says so; constants are fitted, and
    formulas judged and selected, on all rows.

    Options take precedence over --config, and every setting can also be given by --set: --time 60 is --set max_time=60.
    A column whose name has a comma must be in double quotes: --inputs '"a,1",b'.

    Ctrl-C stops the search and prints the best formulas so far; a second Ctrl-C stops at once. `resume`, `show`,
    `predict` and `report` take the run's folder, the beginning of its name, or `latest`.
    """
    from symseed.cli import searching
    from symseed.cli.choice import Choice

    chosen = Choice(
        targets,
        inputs=None if inputs is None else tuple(options.as_columns(inputs)),
        drop=() if drop is None else tuple(options.as_columns(drop)),
        weights=weights,
        errors=errors,
        units=units,
        missing=missing,
        reading=reading,
    )
    given = options.read(typed)
    if guesses:
        given["guesses"] = (list(guesses), f"--guess {guesses[0]}")
    if output_directory is not None:
        given["output_directory"] = (output_directory, f"--output-directory {output_directory}")
    if in_memory:
        if output_directory is not None:
            raise SettingsError("`--in-memory` and `--output-directory` exclude each other. Give one of them.")
        given["output_directory"] = (None, "--in-memory")
    searching.fit(data, chosen, searching.settings(config, given, changes), as_json=as_json)


@click.command(
    cls=options.Answering,
    epilog=options.examples(
        "symseed resume latest",
        "symseed resume latest --time 10m",
    ),
)
@options.run
@options.settings("time", "jobs", "device", "scheduler", "network")
@options.changes
@options.as_json
def resume(run: str, changes: tuple[str, ...], as_json: bool, **typed: str | None) -> None:
    """Continue an interrupted or killed RUN.

    RUN is a run's folder, the beginning of its name, or `latest`. The formulas are the same as without the
    interruption. A finished run is left unchanged unless its limits are raised, for example by --time 600.
    """
    from symseed.cli import searching

    searching.resume(run_names.find(run), searching.changes(options.read(typed), changes), as_json=as_json)
