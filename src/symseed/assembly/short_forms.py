"""Short forms: every formula that is short to write down, one for each family of values, before any search.

After the exhaustive search of Bartlett, Desmond & Ferreira (2023, "Exhaustive Symbolic Regression"). A form stands for
all values of its constants, so of forms that can take on the same values one is enough: `c + d * x`, but not
`d * (x + c)` or `x / d - c`. A factor stands outside of products, quotients and powers, and a summand outside of sums.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.language import Population, Row, Writer
from symseed.scoring.description import code_length, token_costs
from symseed.scoring.evaluation import fit
from symseed.search.budget import IsLate, in_time

_CONSTANT = 3.0
"""Nats that a constant is expected to cost beside its token, as two digits do: chosen by hand."""
_STEP, _MOST_NATS = 2.0, 60.0
"""Nats between two attempts to have as many forms as are asked for, and those of the last, where a language has few
forms: chosen by hand."""
_SAMPLES, _AT_ONCE = 100, 1_000
"""Most samples that forms are fitted to, and the forms that are fitted between two looks at the clock: bounds on
time."""
_DIGITS = 9
"""Digits to which the errors of two forms agree if they are one family after all: chosen by hand."""
_INVERSE = {"exp": "log", "log": "exp", "sqrt": "square", "square": "sqrt", "neg": "neg", "inv": "inv"}
_PULLS_FACTOR = frozenset({"log", "sqrt", "square", "cube", "quartic", "abs", "neg", "inv"})
"""Functions of which a factor of the argument can be taken out, as a factor or as a summand."""


class _Form(NamedTuple):
    """A formula whose constants are still free, and what its root says about equal ones."""

    ids: tuple[int, ...]
    nats: float
    root: str = ""
    is_constant: bool = False
    is_scaled: bool = False
    """Whether it is a constant times, or divided by, something."""
    is_offset: bool = False
    """Whether it is a constant plus something, or minus it."""


def short_forms(writer: Writer, *, most: int, constants: bool) -> list[Row]:
    """Return at most `most` forms, every constant 1: all up to as many nats as that number allows.

    Fewer columns allow longer forms. So equal shares are of all columns, of the first half of them, of the first
    quarter, and so on down to the first column.
    """
    counts = [len(writer.columns) >> halvings for halvings in range(len(writer.columns).bit_length())]
    shares = [_cheapest(writer.of_columns(writer.columns[:count]), most // len(counts), constants) for count in counts]
    return list(dict.fromkeys(itertools.chain.from_iterable(shares)))


def best_of(
    writer: Writer, forms: Sequence[Row], dataset: Dataset, *, keep: int, seed: int, is_late: IsLate
) -> list[Row]:
    """Return the forms that describe some of the samples most briefly, fitted to these, the best first."""
    few = dataset.sampled(_SAMPLES, seed)
    costs = np.append(token_costs(writer.library), 0.0)
    populations: list[Population] = []
    lengths: list[Floats] = []
    for begin in in_time(range(0, len(forms), _AT_ONCE), is_late):
        population, errors = fit(writer.population(forms[begin : begin + _AT_ONCE]), few)
        tokens = np.cumsum(costs[np.minimum(population.tokens, len(writer.library))], axis=1)[:, -1]
        constants = _CONSTANT * np.sum(~np.isnan(population.constants), axis=1)
        lengths.append(tokens + constants + code_length(few, few.mean_squares(errors.error)))
        populations.append(population)
    if not populations:
        return []
    fitted, length = Population.concatenate(populations), np.concatenate(lengths)
    best: dict[float, int] = {}
    for place in np.argsort(length, kind="stable"):
        if len(best) == keep or not np.isfinite(length[place]):
            break
        best.setdefault(float(f"{length[place]:.{_DIGITS}g}"), int(place))
    return [fitted.row(place) for place in best.values()]


def _cheapest(writer: Writer, most: int, constants: bool) -> list[Row]:
    kept: list[_Form] = []
    for nats in np.arange(_STEP, _MOST_NATS, _STEP):
        forms = list(itertools.islice(_forms(writer, float(nats), constants), most + 1))
        if len(forms) > most:
            break
        kept = forms
    one = writer.number(1.0).ids[0]
    return [Row(form.ids, tuple(1.0 if i == one else math.nan for i in form.ids)) for form in kept]


def _forms(writer: Writer, nats: float, constants: bool) -> Iterator[_Form]:
    """All forms of at most some nats, by their number of tokens."""
    costs = token_costs(writer.library)
    every = [_Form(row.ids, float(costs[row.ids[0]])) for row in map(writer.variable, writer.columns)]
    if constants:
        number = writer.number(1.0).ids
        every.append(_Form(number, float(costs[number[0]]) + _CONSTANT, is_constant=True))
    sizes = [sorted((form for form in every if form.nats <= nats), key=_nats)]
    yield from sizes[0]
    while any(sizes[-2:]):  # a language without functions of one argument has no formula of two tokens
        longer = []
        for form in _longer(writer, costs, sizes, nats):
            yield form
            longer.append(form)
        sizes.append(sorted(longer, key=_nats))


def _nats(form: _Form) -> float:
    return form.nats


def _longer(writer: Writer, costs: Floats, sizes: list[list[_Form]], nats: float) -> Iterator[_Form]:
    """The forms of one token more than the last of `sizes`, which begin with those of one token."""
    for name in writer.operators(1):
        root, own = writer.operator(name), float(costs[writer.operator(name)])
        for part in _up_to(sizes[-1], nats - own):
            if _is_needed(name, part):
                yield _Form((root, *part.ids), own + part.nats, name)
    for name in writer.operators(2):
        root, own = writer.operator(name), float(costs[writer.operator(name)])
        rule = _RULES.get(name, _is_any)
        for left in range(len(sizes) - 1):
            for a in _up_to(sizes[left], nats - own):
                for b in _up_to(sizes[len(sizes) - 2 - left], nats - own - a.nats):
                    if not (a.is_constant and b.is_constant) and rule(a, b):
                        is_scaled, is_offset = name in ("mul", "div"), name in ("add", "sub")
                        kind = (a.is_constant and is_scaled, a.is_constant and is_offset)
                        yield _Form((root, *a.ids, *b.ids), own + a.nats + b.nats, name, False, *kind)


def _up_to(forms: list[_Form], nats: float) -> Iterator[_Form]:
    return itertools.takewhile(lambda form: form.nats <= nats, forms)


# --- One form for each family ----------------------------------------------------------------------------------------


def _is_needed(name: str, part: _Form) -> bool:
    if part.is_constant or (name in _INVERSE and part.root == _INVERSE[name]):
        return False
    return not (part.is_scaled and name in _PULLS_FACTOR) and not (part.is_offset and name == "exp")


def _is_any(_: _Form, __: _Form) -> bool:
    return True


def _is_in_order(a: _Form, b: _Form) -> bool:
    """Whether operands whose order does not matter are in the one that is kept: a constant first."""
    if a.is_constant or b.is_constant:
        return a.is_constant
    return (len(a.ids), a.ids) <= (len(b.ids), b.ids)


def _is_sum(a: _Form, b: _Form) -> bool:
    return _is_in_order(a, b) and a.ids != b.ids and not a.is_offset and not b.is_offset


def _is_difference(a: _Form, b: _Form) -> bool:
    """A constant is never taken away, nor something with a factor: a negative one is added."""
    return not b.is_constant and not b.is_scaled and not a.is_offset and not b.is_offset and a.ids != b.ids


def _is_product(a: _Form, b: _Form) -> bool:
    """A constant does not multiply a sum with a constant: it multiplies the other summand."""
    return _is_in_order(a, b) and not a.is_scaled and not b.is_scaled and not (a.is_constant and b.is_offset)


def _is_quotient(a: _Form, b: _Form) -> bool:
    """Nothing is divided by a constant or a quotient, and no quotient is divided: factors are multiplied."""
    is_plain = not a.is_scaled and not b.is_scaled and a.root != "div" and b.root != "div"
    return is_plain and not b.is_constant and a.ids != b.ids


def _is_power(a: _Form, b: _Form) -> bool:
    return not a.is_constant and not a.is_scaled and not b.is_offset


_RULES: dict[str, Callable[[_Form, _Form], bool]] = {
    "add": _is_sum,
    "sub": _is_difference,
    "mul": _is_product,
    "div": _is_quotient,
    "pow": _is_power,
}
