"""Which targets noisy data can tell from simpler formulas: the limit of what any search can recover.

    python perf/attainable.py Feynman --noise 0.001 0.01 0.1 --seeds 0:3 --records build/feynman --out build/limit.jsonl
    python perf/attainable.py --table --out build/limit.jsonl

A target is attainable in noisy data if, of all formulas known to us, one of its form has the shortest description
(`scoring/description.py`, the rule by which `default` selects). If a simpler formula of another form fits within the
noise, that one is shorter, and a perfect search would return it. The formulas known to us are the target itself, what
becomes of it if parts are replaced by constants, by lines or by parabolas in one of their own parts, up to three times
in a row, a line, a power law and an exponential, and all formulas in `--records`, of any level of noise and any
program. All have their constants fitted to the noisy data. A formula has the target's form if `recovery` says so, with
its constants refitted, as it judges the runs.

More known formulas can only make fewer targets attainable, so this is an upper limit. Results are lines of JSON; what
the file has already is not computed again.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import sympy

import noise
from symseed import Dataset, Expression, Library, benchmarks
from symseed.arrays import Floats
from symseed.assembly import first_laws, simplified
from symseed.benchmarks.problem import Problem
from symseed.benchmarks.store import Store
from symseed.errors import SymseedError
from symseed.export import to_sympy
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, Token, TokenKind, constant
from symseed.language.writer import Writer
from symseed.recovery.checker import Checker, Verdict
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import evaluate, fit
from symseed.scoring.fitting import FitSettings

ROUNDS, BEAM = 3, 3
"""How often parts are replaced in a row, and in how many of the shortest formulas each time."""
FINISHED = 8
"""Formulas of the shortest descriptions whose numbers are simplified."""
SAME_FORM = 1e-12
"""NMSE on the noiseless target above which a refitted formula is certainly of another form."""
LONGEST = 100
"""Most tokens of a formula: the most that `default` takes in."""
OURS = "default"
"""How the names of our own tools begin."""
_POWERS = {"square": 2, "cube": 3, "quartic": 4}


@dataclass(frozen=True)
class Limit:
    """What is known of one target at one level of noise."""

    problem: str
    noise: float
    seed: int
    attainable: bool
    nats: float | None
    """By how many nats the shortest formula of the target's form is shorter than the shortest other one."""
    right: str
    other: str
    """The two formulas."""

    @property
    def key(self) -> tuple[str, float, int]:
        """What was computed."""
        return self.problem, self.noise, self.seed


# --- Formulas in the tokens of a problem ------------------------------------------------------------------------------


def writer_of(problem: Problem) -> Writer:
    """Return a writer over the problem's tokens, a constant, and the operators without which the target has no form."""
    assert problem.target is not None, "only such problems are asked for"
    library = problem.library.with_constant()
    own = {token.name for token in library.tokens}
    missing = {t.name: t for t in problem.target.tokens if t.kind is TokenKind.OPERATOR and t.name not in own}
    for name in ("pow", "neg", "inv", *_POWERS):
        if name in missing and (name != "pow" or _powers_are_simple(problem.target)):
            del missing[name]
    return Writer(Library((*library.tokens, *missing.values())))


def _powers_are_simple(target: Expression) -> bool:
    ends = target.library.ends(target.ids)
    exponents = [ends[i + 1] for i, token in enumerate(target.tokens) if token.name == "pow"]
    return all(
        target.tokens[i].kind is TokenKind.LITERAL and (2.0 * target.tokens[i].value).is_integer() for i in exponents
    )


def written(writer: Writer, formula: Expression) -> Row | None:
    """Write a formula in a writer's tokens; None where these do not suffice."""
    waiting: list[Row] = []
    for token, value in zip(reversed(formula.tokens), reversed(formula.constants), strict=True):
        if token.kind is TokenKind.VARIABLE:
            waiting.append(writer.variable(token.column))
        elif token.kind is not TokenKind.OPERATOR:
            waiting.append(writer.number(value if token.kind is TokenKind.CONSTANT else token.value))
        else:
            parts = [waiting.pop() for _ in range(token.arity)]
            are_numbers = all(part.ids == writer.number(0.0).ids for part in parts)
            made = _number(writer, token, parts) if are_numbers else _applied(writer, token.name, parts)
            if made is None:
                return None
            waiting.append(made)
    (row,) = waiting
    return row


def _number(writer: Writer, token: Token, numbers: Sequence[Row]) -> Row:
    """Write the value of an operator of numbers."""
    leaves = [Row.leaf(1, number.constants[0]) for number in numbers]
    formula = Expression(Library((token, constant())), Row.joined([Row.leaf(0), *leaves]))
    return writer.number(float(formula.evaluate(np.zeros((1, 1)))[0]))


def _applied(writer: Writer, name: str, parts: list[Row]) -> Row | None:
    if writer.has(name):
        return writer.apply(name, *parts)
    if name in _POWERS:
        return writer.raised(parts[0], _POWERS[name])
    if name == "neg" and writer.has("mul"):
        return writer.apply("mul", writer.number(-1.0), parts[0])
    if name == "inv" and writer.has("div"):
        return writer.apply("div", writer.number(1.0), parts[0])
    if name != "pow" or len(parts[1]) > 1 or not (2.0 * parts[1].constants[0]).is_integer():
        return None
    halves = int(2.0 * parts[1].constants[0])
    if halves == 0 or (halves % 2 and not writer.has("sqrt")) or (halves < 0 and not writer.has("div")):
        return None
    size = abs(halves)
    power = writer.raised(parts[0], size if size % 2 else size // 2)
    power = writer.apply("sqrt", power) if size % 2 else power
    return power if halves > 0 else writer.apply("div", writer.number(1.0), power)


def forms(problem: Problem) -> Iterator[Expression]:
    """Give the target as it is written, and as sympy writes it: of equal formulas the shortest one counts."""
    assert problem.target is not None, "only such problems are asked for"
    yield problem.target
    library = Library.of(OPERATORS, problem.names, constants=True)
    known = to_sympy(problem.target)
    for step in (lambda form: form, sympy.together, sympy.cancel, sympy.factor):
        try:
            yield Expression.parse(str(step(known)), library)
        except (SymseedError, sympy.PolynomialError):
            continue


def recorded(problem: Problem, folders: Iterable[Path]) -> list[Expression]:
    """Return the formulas that runs found, `default`'s and those of other programs."""
    texts: dict[str, Library] = {}
    own = Library.of(OPERATORS, problem.names, constants=True)
    plain = Library.of(OPERATORS, len(problem.names), constants=True)
    for folder in folders:
        store = Store(folder)
        for record in store.read() if store.exists else []:
            if record.problem == problem.name and record.formula:
                texts[record.formula] = own
        for path in sorted(folder.glob("*.jsonl")):
            if path != store.path:
                found = (o for o in noise.load(path) if o.problem == problem.name and o.formula)
                # Ours are over the columns' names, those of peers over x1, x2, ...
                texts |= {o.formula: own if o.peer.startswith(OURS) else plain for o in found}
    formulas = []
    for text, library in texts.items():
        try:
            formulas.append(Expression.parse(text, library))
        except SymseedError:  # a peer's function that we do not have
            continue
    return formulas


# --- Simpler formulas -------------------------------------------------------------------------------------------------


def simpler(writer: Writer, row: Row, data: Dataset) -> Iterator[Row]:
    """Give formulas in which one part is a constant, or a line or a parabola in one of its own parts."""
    values = data.backend.semantics(writer.population([row])).values
    for begin, token_id in enumerate(row.ids):
        end = writer.library.end(row.ids, begin)
        whole = values[begin]
        if not np.isfinite(whole).all() or writer.library[token_id].kind is TokenKind.CONSTANT:
            continue
        yield row.spliced(begin, end, writer.number(float(whole.mean())))
        at = begin + 1
        while at < end:
            stop = writer.library.end(row.ids, at)
            inner = values[at]
            if np.isfinite(inner).all() and np.ptp(inner) > 0.0:
                for part in _approximations(writer, row.part(at, stop), inner, whole):
                    yield row.spliced(begin, end, part)
            at = stop


def _approximations(writer: Writer, part: Row, inner: Floats, whole: Floats) -> Iterator[Row]:
    """Give the part itself, a multiple of it, a line and a parabola in it, near the values of the whole."""
    yield part
    if not writer.has("mul", "add"):
        return
    yield writer.apply("mul", writer.number(float(inner @ whole / (inner @ inner))), part)
    for degree in (1, 2):
        powers = np.stack([inner**k for k in range(degree + 1)], axis=1)
        offset, *slopes = (float(c) for c in np.linalg.lstsq(powers, whole, rcond=None)[0])
        terms = [writer.apply("mul", writer.number(s), writer.raised(part, k + 1)) for k, s in enumerate(slopes)]
        yield writer.total([writer.number(offset), *terms])


# --- The limit --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judged:
    row: Row
    nats: float


def limit(problem: Problem, level: float, seed: int, checker: Checker, known: Sequence[Expression] = ()) -> Limit:
    """Return whether a target is attainable, and the two shortest descriptions that decide it."""
    train, test = problem.datasets()
    data = train.with_noise(level, seed=seed) if level else train
    assert problem.target is not None, "only such problems are asked for"
    writer = writer_of(problem)
    targets = [row for row in (written(writer, form) for form in forms(problem)) if row is not None]
    targets = [simplified(writer, row, train) for row in dict.fromkeys(targets)]
    truth = min(_as_they_are(writer, targets, train), key=lambda judged: judged.nats).row
    others = [row for row in (written(writer, formula) for formula in known) if row is not None]
    others += first_laws(writer, data, longest=LONGEST)
    pool = {judged.row: judged for judged in _judged(writer, [*targets, *others], data)}
    begin = [truth]
    for _ in range(ROUNDS):
        rows = [new for row in begin for new in simpler(writer, row, data)]
        found = _judged(writer, [row for row in dict.fromkeys(rows) if len(row) <= LONGEST], data)
        pool |= {judged.row: judged for judged in found}
        begin = [judged.row for judged in sorted(found, key=lambda judged: judged.nats)[:BEAM]]
    shortest = sorted(pool.values(), key=lambda judged: judged.nats)
    final = [simplified(writer, judged.row, data) for judged in shortest[:FINISHED]]
    final.append(simplified(writer, truth, data))
    pool |= {judged.row: judged for judged in _as_they_are(writer, final, data)}
    right, other = _first_of_each(writer, sorted(pool.values(), key=lambda judged: judged.nats), problem, test, checker)
    shown = ["" if judged is None else str(Expression(writer.library, judged.row)) for judged in (right, other)]
    nats = None if right is None or other is None else other.nats - right.nats
    return Limit(problem.name, level, seed, right is not None and (nats is None or nats > 0.0), nats, *shown)


def _judged(writer: Writer, rows: Sequence[Row], data: Dataset) -> list[_Judged]:
    """Fit rows to the noisy data, and describe them."""
    if not rows:
        return []
    fitted, _ = fit(writer.population(rows), data, FitSettings(iterations=50))
    return _as_they_are(writer, [fitted.row(i) for i in range(len(rows))], data)


def _as_they_are(writer: Writer, rows: Sequence[Row], data: Dataset) -> list[_Judged]:
    lengths = description_lengths(writer.population(rows), data)
    return [_Judged(row, float(nats)) for row, nats in zip(rows, lengths, strict=True) if math.isfinite(nats)]


def _first_of_each(
    writer: Writer, ranked: Sequence[_Judged], problem: Problem, test: Dataset, checker: Checker
) -> tuple[_Judged | None, _Judged | None]:
    """Return the shortest formula of the target's form, and the shortest other one."""
    assert problem.target is not None, "only such problems are asked for"
    right = other = None
    for judged in ranked:
        if right is not None and other is not None:
            break
        if _may_be_right(writer, judged.row, test):
            formula = Expression(writer.library, judged.row)
            if checker.check(formula, problem.target, test, refit=True).verdict is Verdict.EXACT:
                right = right or judged
                continue
        other = other or judged
    return right, other


def _may_be_right(writer: Writer, row: Row, test: Dataset) -> bool:
    """Whether a formula, refitted, gives the noiseless target; most of another form do not, which saves a proof."""
    fitted, _ = fit(writer.population([row]), test, FitSettings(iterations=200))
    error = float(evaluate(fitted, test).error[0]) / test.total_weight
    return error <= SAME_FORM * (test.deviation**2 or 1.0)


# --- Records and the table --------------------------------------------------------------------------------------------


def load(path: Path) -> dict[tuple[str, float, int], Limit]:
    """Return the limits of a file; a line that was torn is left out."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            one = Limit(**json.loads(line))
        except (json.JSONDecodeError, TypeError):
            continue
        found[one.key] = one
    return found


def run_all(
    names: Iterable[str], levels: Sequence[float], seeds: Iterable[int], folders: Sequence[Path], path: Path
) -> None:
    """Compute the limits that a file does not have, and append them."""
    known = load(path)
    keys = [(level, seed) for level in levels for seed in seeds]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file, Checker() as checker:
        for problem in map(benchmarks.get, names):
            missing = [key for key in keys if (problem.name, *key) not in known]
            formulas = recorded(problem, folders) if missing and problem.target is not None else []
            for level, seed in missing if problem.target is not None else []:
                file.write(json.dumps(asdict(limit(problem, level, seed, checker, formulas))) + "\n")
                file.flush()


def table(limits: Iterable[Limit]) -> str:
    """Show how many targets are attainable by level of noise and number of variables, and which are not."""
    limits = list(limits)
    lines = []
    for level in sorted({one.noise for one in limits}):
        own = [one for one in limits if one.noise == level]
        counts: dict[int, list[bool]] = {}
        for one in own:
            counts.setdefault(len(benchmarks.get(one.problem).names), []).append(one.attainable)
        shown = ", ".join(f"{sum(all_of)}/{len(all_of)} of {n}" for n, all_of in sorted(counts.items()))
        lines.append(f"noise {level:g}: {sum(one.attainable for one in own)} of {len(own)}; by variables {shown}")
        for one in own:
            if not one.attainable:
                lines.append(f"  {one.problem}, seed {one.seed}: {one.other}, {-(one.nats or 0.0):.1f} nats shorter")
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("problems", nargs="*", help="sets or problems, as in `symseed bench list`")
    parser.add_argument("--noise", nargs="+", type=float, default=[0.001, 0.01, 0.1], help="levels, of y's RMS")
    parser.add_argument("--seeds", default="0:1", help="a range, first:end; a seed draws the noise, as in a run")
    parser.add_argument("--records", nargs="*", type=Path, default=[], help="folders of runs whose formulas are tried")
    parser.add_argument("--out", type=Path, default=Path("build/attainable.jsonl"))
    parser.add_argument("--table", action="store_true", help="show what the file has, and compute nothing")
    asked = parser.parse_args()
    if not asked.table:
        names = dict.fromkeys(problem.name for name in asked.problems for problem in benchmarks.resolve(name))
        run_all(names, asked.noise, noise.seeds(asked.seeds), asked.records, asked.out)
    print(table(load(asked.out).values()))


if __name__ == "__main__":
    main()
