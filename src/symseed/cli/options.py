"""Options of the commands: one table of the options that stand for settings, and how each is read."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from symseed import files
from symseed.cli import complete
from symseed.errors import SettingsError, listed, shown
from symseed.language.hints import operator_hint
from symseed.language.tokens import ALIASES, OPERATORS

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+)\s*(min|s|m|h|d|)\s*")


def as_columns(text: str) -> list[str]:
    """Read names of columns, separated by commas; a name with a comma is in double quotes, as in a CSV file."""
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise SettingsError(
            f'Columns must be names separated by commas, such as a,b or "a,1",b, but they are `{shown(text)}`.'
        ) from None
    return [name.strip() for name in names if name.strip()]


def _value(setting: str) -> Callable[[str], dict[str, Any]]:
    """Return a reader of one setting, with the rules of `--set`."""
    return lambda text: {setting: files.toml_value(text)}


def _duration(text: str) -> dict[str, Any]:
    """Read seconds, or a duration such as 90s, 2m, 1h30m."""
    parts = _DURATION.findall(text)
    if not parts or "".join(_DURATION.split(text)[::3]).strip():
        return {"max_time": files.toml_value(text)}
    return {"max_time": sum(float(number) * _SECONDS[unit] for number, unit in parts)}


def _operators(text: str) -> dict[str, Any]:
    """Divide operators into those of one and of two arguments.

    If all have one argument, the operators of two stay as they were; if all have two, there are none of one argument.
    """
    unary: list[str] = []
    binary: list[str] = []
    for name in as_columns(text.replace(" ", ",")):
        canonical = ALIASES.get(name, name)
        if canonical not in OPERATORS:
            known = (*OPERATORS, *ALIASES)
            raise SettingsError(
                f"`--ops` has `{shown(name)}`, which is not an operator.{operator_hint(name, known)} The operators are "
                f"{', '.join(OPERATORS)}."
            )
        (unary if OPERATORS[canonical].arity == 1 else binary).append(name)
    if not unary and not binary:
        raise SettingsError(f"`--ops` must name operators, such as 'sin,exp', but it is `{shown(text)}`.")
    return {"unary_operators": unary} if not binary else {"unary_operators": unary, "binary_operators": binary}


@dataclass(frozen=True, slots=True)
class SettingOption:
    """An option that stands for settings."""

    name: str
    """Its name without hyphens."""
    settings: tuple[str, ...]
    """The settings that it stands for."""
    metavar: str
    help: str
    read: Callable[[str], dict[str, Any]]
    """Reads the settings from the typed text."""
    complete: Callable[..., Any] | None = None

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name}"


def _option(
    name: str, setting: str, metavar: str, help_text: str, complete_by: Callable[..., Any] | None = None
) -> SettingOption:
    return SettingOption(name, (setting,), metavar, help_text, _value(setting), complete_by)


OPTIONS: Mapping[str, SettingOption] = {
    option.name: option
    for option in (
        SettingOption(
            "time",
            ("max_time",),
            "SECONDS",
            "Time limit, such as 60, 2m or 1h.  [default: 60; for `resume`, the limit of the run]",
            _duration,
        ),
        SettingOption(
            "ops",
            ("unary_operators", "binary_operators"),
            "NAMES",
            "Operators, such as 'sin,exp' or '+,*,sin'. If none of them has two arguments, + - * / are added.",
            _operators,
            complete.operators,
        ),
        _option("seed", "random_state", "NUMBER", "Seed; the same seed gives the same search.  [default: 0]"),
        _option("test", "test_size", "SHARE", "Share of the rows held out from the search, such as 0.2."),
        _option("method", "method", "NAME", "Search method; `symseed methods` lists them.", complete.method),
        _option("maxsize", "maxsize", "NUMBER", "Maximum number of tokens of a formula."),
        SettingOption(
            "template",
            ("template",),
            "TEXT",
            "Structure with free parts, such as 'const * f(x) + g(y)'.",
            lambda text: {"template": text},
        ),
        _option("loss", "loss", "NAME", "Loss: squared, absolute, huber, logcosh, mse, mae, ...", complete.loss),
        _option(
            "noise", "noise", "NAME", "Noise of the target: auto, additive, relative, floor or robust.  [default: auto]"
        ),
        SettingOption(
            "network",
            ("network",),
            "FILE",
            "Network that reads the data and seeds the search: a file, or none.  [default: auto, the one that ships]",
            lambda text: {"network": None if text == "none" else text},
        ),
        _option("jobs", "n_jobs", "NUMBER", "Threads; -1 for all cores.  [default: all, if there is work for them]"),
        SettingOption(
            "device",
            ("device",),
            "NAME",
            "What computes formulas: cpu, cuda or auto; `symseed doctor` shows the GPU.  [default: cpu]",
            lambda text: {"device": text},
        ),
        _option(
            "islands", "islands", "NUMBER", "Searches beside each other, which exchange formulas; one process each."
        ),
        SettingOption(
            "scheduler",
            ("executor",),
            "ADDRESS",
            "Dask scheduler whose workers search the islands, such as tcp://10.0.0.1:8786.",
            lambda text: {"executor": text},
        ),
    )
}
"""Every option that stands for settings, by name; `--set` gives the others."""


def settings(*names: str) -> Callable[[_Command], _Command]:
    """Give a command options that stand for settings; it receives the typed texts by the options' names."""

    def decorate(command: _Command) -> _Command:
        for option in reversed([OPTIONS[name] for name in names]):
            command = click.option(
                option.flag, option.name, metavar=option.metavar, help=option.help, shell_complete=option.complete
            )(command)
        return command

    return decorate


def examples(*lines: str, title: str = "Examples") -> str:
    """Return the end of a command's help: lines that can be pasted into a shell."""
    return "\n".join(["\b", f"{title}:", *(f"  {line}" for line in lines)])  # \b: click keeps the lines as they are


changes = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any setting of SymbolicRegressor; may be repeated.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
run = click.argument("run", shell_complete=complete.run)


def read(typed: Mapping[str, str | None]) -> dict[str, tuple[Any, str]]:
    """Return settings by name, each with its value and the typed text."""
    return {
        setting: (value, f"{OPTIONS[name].flag} {text}")
        for name, text in typed.items()
        if text is not None
        for setting, value in OPTIONS[name].read(text).items()
    }


def combined(typed: Mapping[str, tuple[Any, str]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of options, `typed`, together with those of `--set`, `given`.

    Raises:
        SettingsError: if a setting is given by both, and they disagree.
    """
    for name, (value, text) in typed.items():
        if name in given and given[name] != value:
            raise SettingsError(f"`{text}` and `--set {name}={given[name]}` disagree about `{name}`. Give one of them.")
    return {name: value for name, (value, _) in typed.items()} | dict(given)


class Answering(click.Command):
    """A command that explains what to type in place of an option of another tool, or of a setting without an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            answer = _answer(error.option_name, {flag for parameter in self.params for flag in parameter.opts})
            if not answer:
                raise
            raise click.UsageError(f"There is no option `{error.option_name}`.{answer}", ctx) from error


def _answer(flag: str, own: Set[str]) -> str:
    """Return what to type in place of an unknown option; `own` are the command's flags. "" if that is not known."""
    from symseed.regressor import elsewhere  # slow to load, but needed only after a mistake
    from symseed.regressor.settings import NAMES

    name = flag.lstrip("-").replace("-", "_")
    if name in OPTIONS:
        return " Only `fit` has it, because a run keeps the settings that it began with."
    if name not in NAMES:
        answer = re.sub(rf"\b({'|'.join(NAMES)})\b", lambda match: _flag(match[0], own), elsewhere.answer(name))
        return re.sub(r"(--\S+) and \1", r"\1", answer)  # one option may stand for two settings
    return f" Use {_flag(name, own)}."


def _flag(setting: str, own: Set[str]) -> str:
    """Return how a setting is typed."""
    found = [option.flag for option in OPTIONS.values() if setting in option.settings and option.flag in own]
    return found[0] if found else f"--set {setting}=VALUE"


def check_distinct(**columns: Sequence[str]) -> None:
    """Refuse a column that has two roles.

    Raises:
        SettingsError: naming the column and the two options.
    """
    roles: dict[str, str] = {}
    for role, names in columns.items():
        for name in names:
            if name in roles:
                raise SettingsError(f"{listed([name])} is named by `--{roles[name]}` and `--{role}`. Give it one role.")
            roles[name] = role
