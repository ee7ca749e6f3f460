"""The formulas of the catalogue of benchmarks, whose forms the corpus leaves out; needs symseed, unlike the training.

    python neural/forms.py        # writes barred.txt, from which corpus.py reads the forms

A form is what remains of a formula if the order of terms and factors, the nesting of products and quotients, the
numbers, the sign of a whole sum and the names of variables make no difference. `a + b x` is no benchmark's own.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from corpus import BARRED, COLUMNS, SYMBOLS, Corpus

from symseed import Expression, benchmarks
from symseed.language.tokens import TokenKind

_POWERS = {"cube": 3.0, "quartic": 4.0, "inv": -1.0}
"""Operators that are powers."""
_LINE = [1 + len(SYMBOLS)]


def barred(corpus: Corpus) -> list[int]:
    """Return the forms that are left out, as numbers."""
    return sorted({corpus.form(ids) for ids in catalogue()} - {corpus.form(_LINE)})


def catalogue() -> list[list[int]]:
    """Return the formulas of the catalogue that the network could write, as ids."""
    problems = {problem.name: problem for name in benchmarks.SETS for problem in benchmarks.resolve(name)}
    written = [ids_of(problem.target) for problem in problems.values() if problem.target is not None]
    return [ids for ids in written if ids is not None]


def ids_of(expression: Expression) -> list[int] | None:
    """Return a formula as ids; None if it has tokens or variables that the network lacks."""
    rest = iter(expression.tokens)

    def id_of(name: str) -> int:
        return 1 + SYMBOLS.index(name)

    def power(of: list[int], exponent: float) -> list[int] | None:
        if exponent < 0.0:
            inner = power(of, -exponent)
            return None if inner is None else [id_of("div"), id_of("const"), *inner]
        if exponent != int(exponent):
            inner = power(of, 2.0 * exponent) if 2.0 * exponent == int(2.0 * exponent) else None
            return None if inner is None else [id_of("sqrt"), *inner]
        return [id_of("mul")] * (int(exponent) - 1) + of * int(exponent) if 1 <= exponent <= 10 else None

    def part() -> list[int] | None:
        token = next(rest)
        if token.kind is TokenKind.VARIABLE:
            return [1 + len(SYMBOLS) + token.column] if token.column < len(COLUMNS) else None
        if token.kind is not TokenKind.OPERATOR:
            return [id_of("const")]
        if token.name == "pow":
            base, exponent = part(), next(rest)
            is_number = exponent.kind is TokenKind.LITERAL
            return power(base, exponent.value) if base is not None and is_number else None
        parts = [part() for _ in range(token.arity)]
        known = [ids for ids in parts if ids is not None]
        if len(known) < len(parts):
            return None
        if token.name in _POWERS:
            return power(known[0], _POWERS[token.name])
        if token.name == "neg":
            return [id_of("mul"), id_of("const"), *known[0]]
        return [id_of(token.name), *itertools.chain.from_iterable(known)] if token.name in SYMBOLS else None

    return part()


def main() -> None:
    """Write the forms."""
    found = barred(Corpus.build(Path("build/neural")))
    BARRED.write_text("".join(f"{form:016x}\n" for form in found), encoding="utf-8")
    print(f"{len(found)} forms in {BARRED}")


if __name__ == "__main__":
    main()
