"""What the policies of a run have learnt: the probability of each next token at the root and along a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from symseed.arrays import Floats
from symseed.language import Expression, Row, TokenKind
from symseed.language.tokens import Token
from symseed.regressor.fitting import chosen_names
from symseed.regressor.policies import Kept, Reader, readers
from symseed.regressor.run import Run
from symseed.show.figures import node_label
from symseed.text import one_line

_MOST_LINES = 7
"""Most tokens at the root that have a line of their own: chosen by hand."""
_MOST_OTHERS = 3
"""Most other tokens that are named at a place of the formula: chosen by hand."""
_LONGEST = 24
"""Most characters of a column's name: chosen by hand."""


def learnt(run: Run, target: int, formula: Expression) -> list[dict[str, Any]]:
    """Return what the policy of each search thinks of each token, before its first lesson and after some turns.

    Args:
        run: the run.
        target: place of the target.
        formula: the formula along which the policies are asked.
    """
    kept = run.checkpoints.policies.read(target)
    if not kept:
        return []
    plan = run.plan()
    names = chosen_names(plan, run.data, run.seed, target)
    found = [_search(one, kept, formula) for one in readers(plan, names, run.data.dimensions(target))]
    return [one for one in found if one is not None]


def _search(reader: Reader, kept: list[Kept], formula: Expression) -> dict[str, Any] | None:
    """What the policy of one search thinks; None if it was not kept."""
    tokens = reader.space.library.tokens
    written = reader.written(formula)
    if written is None or len(written) > reader.space.max_length:
        leaf = next(place for place, token in enumerate(tokens) if token.arity == 0)
        value = 1.0 if tokens[leaf].kind is TokenKind.CONSTANT else np.nan
        along, asked = None, Expression(reader.space.library, Row.leaf(leaf, value))  # the root is that of any formula
    else:
        along = asked = written
    charged, thoughts = [], []
    weights = [(0, None), *((one.charged, one.weights.get(reader.place)) for one in kept)]
    for count, values in weights:
        policy = reader.policy(values) if values is not None or count == 0 else None
        if policy is not None:
            charged.append(count)
            thoughts.append(policy.distributions(asked))
    if len(thoughts) < 2:
        return None
    return {
        "track": reader.track,
        "charged": charged,
        "root": _root(tokens, np.stack([thought[0] for thought in thoughts])),
        "along": [] if along is None else _along(along, np.stack(thoughts)),
        "legal": along is not None,
    }


def _root(tokens: tuple[Token, ...], thoughts: Floats) -> list[dict[str, Any]]:
    """The tokens that were ever most probable at the root, with their probabilities over the rounds (R, T)."""
    order = np.argsort(-thoughts.max(axis=0), kind="stable")[:_MOST_LINES]
    order = order[np.argsort(-thoughts[-1, order], kind="stable")]
    return [{"token": _label(tokens[place], 1.0), "values": _shares(thoughts[:, place])} for place in order.tolist()]


def _along(formula: Expression, thoughts: Floats) -> list[dict[str, Any]]:
    """Each token of a formula with its probability over the rounds (R, L, T), and what else might come there now."""
    tokens = formula.library.tokens
    out = []
    for place, (own, value) in enumerate(zip(formula.ids, formula.constants, strict=True)):
        now = thoughts[-1, place]
        others = [other for other in np.argsort(-now, kind="stable").tolist() if other != own and now[other] > 0.0]
        out.append(
            {
                "token": _label(tokens[own], value),
                "values": _shares(thoughts[:, place, own]),
                "others": [[_label(tokens[other], 1.0), float(now[other])] for other in others[:_MOST_OTHERS]],
            }
        )
    return out


def _shares(values: Floats) -> list[float]:
    return [round(value, 6) for value in values.tolist()]


def _label(token: Token, value: float) -> str:
    if token.kind is TokenKind.CONSTANT:
        return "const"
    return one_line(token.name, _LONGEST) if token.kind is TokenKind.VARIABLE else node_label(token, value)
