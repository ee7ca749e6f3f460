"""Fuzzers: changed bytes for everything that reads bytes, one target after another: `make fuzz SECONDS=60`.

A target is a file `fuzz_NAME.py` beside this one. Its function `one` takes any bytes, and raises if symseed neither
answers rightly nor refuses with a sentence; `inputs/NAME` has inputs to begin with. With atheris, inputs that reach new
branches of the Python code are changed further; without it, or blindly, those of the corpus are changed at random. An
input that fails, takes longer than a minute or (with atheris) 4 GB is kept in `build/fuzz/`.

The figures of a report add up over runs, and what was found in one run the next begins with:
`python fuzz/fuzz.py --seconds 300 --until 3600 --json build/fuzz.json` may be ended and started again until each target
has an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OUTPUT = Path("build/fuzz")
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.py"))
One = Callable[[bytes], None]
Figures = dict[str, Any]
"""Sums of one target over all runs: seconds, inputs, branches reached at last, failures, and dates."""

_LONGEST = 4096
"""Most bytes of an input; targets multiply them where size matters."""
_LONGEST_SECONDS = 60
"""Most seconds of an input."""
_INTERESTING = (b"\0", b"\xff", b"\n", b"-1", b"1e999", b"(" * 99, b"9" * 99, b"\xed\xa0\x80", b'"', b"{}", b"\x7f" * 8)


def corpus(name: str) -> list[bytes]:
    """Return the inputs that a target begins with."""
    return [path.read_bytes() for path in sorted((HERE / "inputs" / name).iterdir())]


@contextlib.contextmanager
def neighbours() -> Iterator[None]:
    """Let targets import what lies here, and the forgeries of the tests."""
    added = [str(HERE), str(HERE.parent / "tests")]
    sys.path[:0] = added
    try:
        yield
    finally:
        for path in added:
            sys.path.remove(path)


def target(name: str) -> One:
    """Load a target."""
    with neighbours():
        one: One = importlib.import_module(f"fuzz_{name}").one
    return one


def changed(inputs: Sequence[bytes], rng: random.Random) -> bytes:
    """Return one of the inputs after some random changes."""
    content = bytearray(rng.choice(inputs))
    for _ in range(2 ** rng.randrange(5)):
        place = rng.randrange(len(content) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del content[place : place + 2 ** rng.randrange(8)]
        elif kind == 1:
            content[place:place] = rng.choice(_INTERESTING)
        elif kind == 2 and place < len(content):
            content[place] ^= 1 << rng.randrange(8)
        elif kind == 3 and place < len(content):
            content[place] = rng.randrange(256)
        elif kind == 4:
            other = rng.choice(inputs)
            start = rng.randrange(len(other) + 1)
            content[place : place + rng.randrange(64)] = other[start : start + rng.randrange(64)]
        elif kind == 5:
            content[place:place] = content[place : place + 2 ** rng.randrange(8)]
    return bytes(content[:_LONGEST])


def change_at_random(one: One, inputs: Sequence[bytes], seconds: float, seed: int) -> tuple[int, bytes | None]:
    """Try the inputs as they are and then changed; return how many were tried, and one that failed."""
    rng = random.Random(seed)  # noqa: S311 - the same inputs each time
    end = time.monotonic() + seconds
    count = 0
    while count < len(inputs) or time.monotonic() < end:
        given = inputs[count] if count < len(inputs) else changed(inputs, rng)
        count += 1
        try:
            one(given)
        except Exception:
            import traceback

            traceback.print_exc()
            return count, given
    return count, None


def kept_while_tried(one: One, path: Path) -> One:
    """Have every input in a file while it is tried, so that one which ends the process, or hangs, is left there."""

    def tried(given: bytes) -> None:
        path.write_bytes(given)
        faulthandler.dump_traceback_later(_LONGEST_SECONDS, exit=True)
        one(given)
        faulthandler.cancel_dump_traceback_later()
        path.unlink()

    return tried


def _work(name: str, seconds: int, *, is_blind: bool) -> None:
    """Fuzz one target in this process, and end it."""
    warnings.simplefilter("ignore")
    own = OUTPUT / "corpus" / name
    own.mkdir(parents=True, exist_ok=True)
    failed = OUTPUT / f"{name}-failed-"
    if is_blind:
        inputs = [*corpus(name), *(path.read_bytes() for path in sorted(own.iterdir()))]
        one = kept_while_tried(target(name), Path(f"{failed}{os.getpid()}"))
        count, given = change_at_random(one, inputs, seconds, seed=time.time_ns())
        print(f"Done {count} runs in {seconds} second(s)")
        sys.exit(given is not None)
    import atheris

    with atheris.instrument_imports(include=["symseed", f"fuzz_{name}"]):
        one = target(name)
    limits = [
        f"-max_total_time={seconds}",
        f"-max_len={_LONGEST}",
        f"-timeout={_LONGEST_SECONDS}",
        "-rss_limit_mb=4096",
    ]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={failed}", str(own), str(HERE / "inputs" / name)], one)
    atheris.Fuzz()


def _report(name: str, seconds: int, *, is_blind: bool) -> dict[str, Any]:
    """Fuzz one target in a process of its own, and say what came of it."""
    command = [sys.executable, __file__, name, "--seconds", str(seconds), "--here"]
    command += ["--blind"] if is_blind else []
    before = {*OUTPUT.glob(f"{name}-failed-*")}
    log = OUTPUT / f"{name}.log"
    began = time.monotonic()
    with log.open("wb") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    text = log.read_text(errors="replace")
    runs = re.findall(r"Done (\d+) runs?", text) or re.findall(r"^#(\d+)", text, re.MULTILINE)
    branches = re.findall(r"\bcov: (\d+)", text)
    kept = sorted(str(path) for path in {*OUTPUT.glob(f"{name}-failed-*")} - before)
    return {
        "target": name,
        "seconds": min(seconds, int(time.monotonic() - began)),
        "runs": int(runs[-1]) if runs else 0,
        "branches": int(branches[-1]) if branches else None,
        "exit": code,
        "failed": kept,
        "log": str(log),
    }


def _sum(so_far: Figures, report: Mapping[str, Any]) -> Figures:
    """Add what one run found to the figures of its target."""
    return {
        "seconds": so_far.get("seconds", 0) + report["seconds"],
        "runs": so_far.get("runs", 0) + report["runs"],
        "branches": report["branches"],
        "failed": [*so_far.get("failed", []), *(report["failed"] or ([report["log"]] if report["exit"] else []))],
        "dates": sorted({*so_far.get("dates", []), time.strftime("%Y-%m-%d")}),
    }


def rounds(
    names: Sequence[str], seconds: int, until: int | None, found: dict[str, Figures], *, is_blind: bool
) -> Iterator[dict[str, Any]]:
    """Fuzz each target once; or, up to a sum of seconds, the one with the fewest next; add to what was found so far.

    A target that fails is not tried again.
    """
    left = [*names]
    while left:
        name = left[0] if until is None else min(left, key=lambda one: found.get(one, {}).get("seconds", 0))
        missing = seconds if until is None else min(seconds, until - found.get(name, {}).get("seconds", 0))
        if missing <= 0:
            return
        report = _report(name, missing, is_blind=is_blind)
        found[name] = _sum(found.get(name, {}), report)
        if until is None or report["exit"]:
            left.remove(name)
        yield report


def main() -> None:
    """Run the targets; exit code 1 if an input failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", choices=[[], *TARGETS], help=f"targets (default: all): {', '.join(TARGETS)}"
    )
    parser.add_argument("--seconds", type=int, default=60, help="seconds for each target (default: 60)")
    parser.add_argument("--until", type=int, help="go on until each target has this sum of seconds in the report")
    parser.add_argument("--blind", action="store_true", help="change inputs at random, as without atheris")
    parser.add_argument("--json", type=Path, help="report; its figures add up over runs")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not {*given.names} <= {*TARGETS}:
        parser.error(f"a target must be one of {', '.join(TARGETS)}")
    if given.until is not None and given.json is None:
        parser.error("--until needs --json, for the sums")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    is_blind = given.blind or importlib.util.find_spec("atheris") is None
    if given.here:
        _work(given.names[0], given.seconds, is_blind=is_blind)
    is_continued = given.json is not None and given.json.exists()
    found: dict[str, Figures] = json.loads(given.json.read_text()) if is_continued else {}
    is_good = True
    for report in rounds(given.names or TARGETS, given.seconds, given.until, found, is_blind=is_blind):
        branches = "" if report["branches"] is None else f", {report['branches']:,} branches reached"
        end = "no failure" if report["exit"] == 0 else f"FAILED, see {report['log']}"
        is_good = is_good and report["exit"] == 0
        in_all = f"{found[report['target']]['seconds']} s in all"
        print(
            f"{report['target']:<12} {report['runs']:>9,} inputs in {report['seconds']} s ({in_all}){branches}: {end}",
            flush=True,
        )
        if given.json is not None:
            given.json.parent.mkdir(parents=True, exist_ok=True)
            given.json.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")
    sys.exit(not is_good)


if __name__ == "__main__":
    main()
