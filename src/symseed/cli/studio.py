"""The command that opens the local page."""

from __future__ import annotations

import importlib.util
import webbrowser
from pathlib import Path

import click

from symseed.cli import options, run_names
from symseed.errors import SettingsError


@click.command(
    epilog=options.examples(
        "symseed studio",
        "symseed studio fits --port 8000 --no-browser",
    )
)
@click.argument("folder", default=str(run_names.PARENT), type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the page; 0: any.  [default: the first from 8765]")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
def studio(folder: Path, port: int | None, no_browser: bool) -> None:
    """Open a local page that starts, shows, stops and resumes searches in FOLDER.

    The page is at 127.0.0.1, and only the link that is printed opens it. Ctrl-C ends the page; searches go on, and the
    page finds them again. By default FOLDER is `outputs`.
    """
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise SettingsError("`symseed studio` needs starlette and uvicorn. Run `pip install 'symseed[studio]'`.")
    from symseed.studio.server import serve

    def ready(link: str, once: str) -> None:
        click.echo(f"The page is at {link}")
        click.echo("Ctrl-C ends the page; searches go on.")
        if not no_browser:
            webbrowser.open(once)

    try:
        serve(folder.absolute(), run_names.newest_first, port, ready)
    except KeyboardInterrupt:
        click.echo("The page is closed.")
