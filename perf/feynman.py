"""The public sets of physics: `default` beside other programs, on the same data and in equal time.

    python perf/feynman.py Feynman --noise 0 0.001 0.01 0.1 --seeds 0:3 --seconds 60 --folder build/feynman
    python perf/feynman.py --table --folder build/feynman

It does four things, each resumable and each of which may be left out by `--tools`: `default`, as `symseed bench run`
does it; `pyoperon` and `gplearn` (`noise.py`), which get the same rows, operators and seconds on one core; `units`,
`default` with the published units (`units.py`); and `limit`, which targets are attainable in the noise, given all
formulas that the others found (`attainable.py`). A model of a peer is judged as ours is, in its favour where it adds a
constant to every model. `default` has CPU seconds, a peer seconds on the clock: the table has the CPU seconds of each,
which differ on a machine with other work.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import attainable
import noise
import units
from symseed import benchmarks
from symseed.benchmarks import runner
from symseed.benchmarks.store import Store
from symseed.errors import SettingsError

OURS = "default"
TOOLS = (OURS, *noise.PEERS, "units", "limit")
PEERS_FILE, UNITS_FILE, LIMIT_FILE = "peers.jsonl", "units.jsonl", "limit.jsonl"


@dataclass(frozen=True)
class Result:
    """One model of one run."""

    tool: str
    problem: str
    noise: float
    seed: int
    is_right: bool
    cpu_seconds: float | None


def results(folder: Path) -> list[Result]:
    """Return all runs of a folder."""
    store = Store(folder)
    records = {record.key: record for record in (store.read() if store.exists else [])}
    found = [Result(r.method, r.problem, r.noise, r.seed, r.is_recovered, r.cpu_seconds) for r in records.values()]
    for name in (UNITS_FILE, PEERS_FILE):
        found += [
            Result(o.peer, o.problem, o.noise, o.seed, o.verdict == "exact", o.cpu_seconds)
            for o in noise.load(folder / name)
        ]
    return found


def run_all(tools: Sequence[str], names: Sequence[str], levels: Sequence[float], seeds: range, asked: Budget) -> None:
    """Do the runs that the folder does not have."""
    folder = asked.folder
    if OURS in tools:
        keys = runner.plan(names, [OURS], seeds, draw=0, seconds=asked.seconds, noises=levels)
        runner.run_many(
            keys,
            Store(folder),
            jobs=asked.jobs,
            done=lambda r: print(f"{r.method}, {r.problem}, noise {r.noise:g}: {r.error or r.verdict}", flush=True),
        )
    runs = [
        noise.Run(peer, name, level, seed, asked.seconds)
        for seed in seeds
        for level in levels
        for name in names
        for peer in noise.PEERS
        if peer in tools
    ]
    path = folder / PEERS_FILE
    noise.run_all(noise.missing(runs, noise.load(path)), path)
    if "units" in tools:
        units.run_all(names, levels, seeds, asked.seconds, folder / UNITS_FILE, both=False)
    if "limit" in tools:
        attainable.run_all(names, levels, seeds, [folder], folder / LIMIT_FILE)


@dataclass(frozen=True)
class Budget:
    """What a run may take, and where it is recorded."""

    seconds: int
    jobs: int
    folder: Path


def table(found: Iterable[Result], limits: Iterable[attainable.Limit]) -> str:
    """Show in how many runs each tool chose the target, of all and of those with an attainable target, in percent."""
    found = list(found)
    can = {limit.key: limit.attainable for limit in limits}
    lines = ["A cell: recovered of all runs; of those whose target is attainable; median CPU seconds."]
    for name in ("Feynman", "Feynman-bonus", "Strogatz"):
        own = [result for result in found if result.problem in benchmarks.SETS[name]]
        levels = sorted({result.noise for result in own})
        if own:
            lines += ["", f"{name:24}" + "".join(f"{f'noise {level:g}':>34}" for level in levels)]
        for tool in dict.fromkeys(result.tool for result in own):
            mine = [result for result in own if result.tool == tool]
            lines.append(f"{tool:24}" + _cells(mine, levels, can))
            if tool == OURS:
                for count in sorted({_variables(result) for result in mine}):
                    some = [result for result in mine if _variables(result) == count]
                    lines.append(f"{f'  {count} variables':24}" + _cells(some, levels, can))
    return "\n".join(lines)


def _cells(found: Sequence[Result], levels: Sequence[float], can: dict[tuple[str, float, int], bool]) -> str:
    return "".join(f"{_cell([result for result in found if result.noise == level], can):>34}" for level in levels)


def _cell(found: Sequence[Result], can: dict[tuple[str, float, int], bool]) -> str:
    if not found:
        return ""
    known = [result for result in found if can.get((result.problem, result.noise, result.seed), False)]
    seconds = sorted(result.cpu_seconds for result in found if result.cpu_seconds is not None)
    took = f"{seconds[len(seconds) // 2]:.1f} s" if seconds else "-"
    of_those = f"{_share(known)}" if known else "-"
    return f"{_share(found)}; {of_those}; {took}"


def _share(found: Sequence[Result]) -> str:
    return f"{sum(result.is_right for result in found)}/{len(found)}"


def _variables(result: Result) -> int:
    return len(benchmarks.get(result.problem).names)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("problems", nargs="*", help="sets or problems, as in `symseed bench list`")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.001, 0.01, 0.1], help="levels, of y's RMS")
    parser.add_argument("--seeds", default="0:3", help="a range, first:end")
    parser.add_argument("--seconds", type=int, default=60, help="of each run")
    parser.add_argument("--jobs", type=int, default=1, help="runs of `default` at a time")
    parser.add_argument("--folder", type=Path, default=Path("build/feynman"))
    parser.add_argument("--table", action="store_true", help="show what the folder has, and run nothing")
    asked = parser.parse_args()
    if not asked.table:
        names = list(dict.fromkeys(p.name for name in asked.problems for p in benchmarks.resolve(name) if p.target))
        if not names:
            raise SettingsError("Name the problems, such as `Feynman`, or give `--table`.")
        budget = Budget(asked.seconds, asked.jobs, asked.folder)
        run_all(asked.tools, names, asked.noise, noise.seeds(asked.seeds), budget)
    print(table(results(asked.folder), attainable.load(asked.folder / LIMIT_FILE).values()))


if __name__ == "__main__":
    main()
