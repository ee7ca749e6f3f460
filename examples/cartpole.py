"""Find a formula that balances a pole on a cart: symbolic control of gymnasium's CartPole-v1.

The cart is pushed to the right where f(x, v, angle, spin) > 0, else to the left; f is what the search looks for. A task
of our own plays episodes and averages their returns. Needs gymnasium.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

try:
    import gymnasium
except ImportError:
    raise SystemExit("This example needs gymnasium: run `pip install gymnasium`.") from None

from symseed import Expression, Library, Population, SearchSpace
from symseed.search import Budget, SearchResult, SearchSettings, run
from symseed.task import Counts, Scored
from symseed.tokens import Token, TokenKind

Controller = Callable[[list[float]], float]
"""What a formula makes of an observation."""

OBSERVATION = ("x", "v", "angle", "spin")
OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}
MOST = 500
"""Steps after which CartPole-v1 ends an episode; each is worth 1."""
TRAINING = range(5)
PROVING = range(1_000, 1_020)
TESTING = range(2_000, 2_100)


def controller(expression: Expression) -> Controller:
    """Turn a formula into a function of one observation.

    Per step there is one observation only, for which a function of plain numbers is faster than arrays.
    """
    waiting: list[Controller] = []
    for token in reversed(expression.tokens):
        arguments = [waiting.pop() for _ in range(token.arity)]
        waiting.append(_node(token, arguments))
    return waiting[0]


def _node(token: Token, arguments: list[Controller]) -> Controller:
    """Return the function of one token above its arguments' functions."""
    if token.kind is TokenKind.VARIABLE:
        return operator.itemgetter(token.column)
    if token.kind is TokenKind.LITERAL:
        return lambda _: token.value
    operation = OPERATIONS[token.name]
    left, right = arguments
    return lambda observation: operation(left(observation), right(observation))


class CartPoleTask:
    """Scores formulas by their mean return over fixed episodes, as a share of the most; each is played once.

    A formula that gets full marks there solves the task if it does so in further episodes too.
    """

    def __init__(self) -> None:
        self._environment = gymnasium.make("CartPole-v1")
        self._known: dict[tuple[int, ...], float] = {}
        self._asked = 0

    @property
    def counts(self) -> Counts:
        """What was done since the task was made."""
        return Counts(self._asked, evaluated=len(self._known), unique=len(self._known))

    def evaluate(self, population: Population) -> Scored:
        """Play with each formula that is new."""
        self._asked += len(population)
        reward = [self._reward(expression) for expression in population]
        solved = [
            share == 1.0 and self.mean_return(expression, PROVING) == MOST
            for share, expression in zip(reward, population, strict=True)
        ]
        return Scored.of(population, reward, solved)

    def mean_return(self, expression: Expression, seeds: Iterable[int]) -> float:
        """Return the mean return of the episodes that begin from these seeds."""
        decide = controller(expression)
        returns = [self._play(decide, seed) for seed in seeds]
        return sum(returns) / len(returns)

    def _reward(self, expression: Expression) -> float:
        if expression.ids not in self._known:
            self._known[expression.ids] = self.mean_return(expression, TRAINING) / MOST
        return self._known[expression.ids]

    def _play(self, decide: Controller, seed: int) -> int:
        observation, _ = self._environment.reset(seed=seed)
        for step in range(1, MOST + 1):
            action = 1 if decide(observation.tolist()) > 0.0 else 0
            observation, _, has_fallen, is_over, _ = self._environment.step(action)
            if has_fallen or is_over:
                break
        return step
