"""The commands that read a run: show, report, predict and stability. `results`, slow to load, does their work."""

from __future__ import annotations

import click

from symseed.cli import complete, options, run_names
from symseed.cli.table_options import reading_options
from symseed.export.source import FORMATS
from symseed.tables.options import TableOptions


@click.command(
    epilog=options.examples(
        "symseed show latest",
        "symseed show latest --as latex",
        "symseed show latest --index 2 --as python",
    )
)
@options.run
@click.option("--index", type=int, help="Show only this row of the front, counted from 0.")
@click.option(
    "--as",
    "format_",
    metavar="FORMAT",
    shell_complete=complete.of(FORMATS),
    help=f"Show the selected formula, or that row, as {', '.join(FORMATS)}.",
)
@options.as_json
def show(run: str, index: int | None, format_: str | None, as_json: bool) -> None:
    """Show the formulas that a RUN has found.

    RUN is a run's folder, the beginning of its name, or `latest`.
    """
    from symseed.cli import results

    results.show(run_names.find(run), index, format_, as_json=as_json)


@click.command(
    epilog=options.examples(
        "symseed report latest",
        "symseed report latest --output report.html",
    )
)
@options.run
@click.option("--output", show_default="report.html in the run folder", help="File to write.")
def report(run: str, output: str | None) -> None:
    """Write a report of a RUN as one self-contained HTML page.

    RUN is a run's folder, the beginning of its name, or `latest`.
    """
    from symseed.cli import results

    results.report(run_names.find(run), output)


@click.command(
    epilog=options.examples(
        "symseed predict latest new.csv > predicted.csv",
        "symseed predict latest big.parquet --output predicted.parquet",
    )
)
@options.run
@click.argument("data", shell_complete=complete.data)
@click.option("--index", type=int, show_default="the selected formula", help="Row of the front, counted from 0.")
@click.option(
    "--output", metavar="FILE", help="Parquet, Arrow or CSV file to write.  [default: CSV on standard output]"
)
@reading_options
def predict(run: str, data: str, index: int | None, output: str | None, reading: TableOptions) -> None:
    """Predict the target for every row of DATA with a RUN.

    RUN is a run's folder, the beginning of its name, or `latest`. DATA is a table in any format that `fit` reads, with
    the input columns of the run. It is printed as CSV, or written to a file, with a last column of predictions for each
    target; a row without an input of the formula has no prediction. Cells of DATA are printed unchanged, even those
    that a spreadsheet would read as formulas. A table that is too large for memory is read and written in pieces.
    """
    from symseed.cli import predicting

    predicting.predict(run_names.find(run), data, index, reading, output)


@click.command(
    epilog=options.examples(
        "symseed stability latest",
        "symseed stability latest --resamples 10 --search --set max_evals=20000",
    )
)
@options.run
@click.option("--resamples", type=click.IntRange(1), default=20, show_default=True, help="How often rows are drawn.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draws.")
@click.option("--search", is_flag=True, help="Repeat the whole search each time, with the settings of the run.")
@options.changes
@options.as_json
def stability(run: str, resamples: int, seed: int, search: bool, changes: tuple[str, ...], as_json: bool) -> None:
    """Show what a RUN would have selected from other rows.

    RUN is a run's folder, the beginning of its name, or `latest`. Its rows are drawn again with replacement, the
    formulas that it has found are fitted to them, and one is selected by description length. `--set` changes the
    searches of `--search`.
    """
    from symseed.cli import results

    results.stability(run_names.find(run), resamples, changes if search else None, seed, as_json=as_json)
