"""Find a formula that balances a pole on a cart: symbolic control of gymnasium's CartPole-v1.

The search looks for a function f: the cart is pushed to the right if f(x, v, angle, spin) > 0, otherwise to the left.
The reward is a Python function that plays some episodes. Needs gymnasium.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

try:
    import gymnasium
except ImportError:
    raise SystemExit("This example needs gymnasium: run `pip install gymnasium`.") from None

from symseed import Budget, Expression, FunctionTask, Library, SearchResult, SearchSettings, SearchSpace, search
from symseed.language import Token, TokenKind

Environment: TypeAlias = "gymnasium.Env[npt.NDArray[np.float32], int]"
Controller: TypeAlias = Callable[[list[float]], float]
"""The function of an observation that a formula defines."""

OBSERVATION = ("x", "v", "angle", "spin")
OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}
MOST = 500.0
"""The return of an episode in which the pole never falls."""
TRAINING = range(20)
"""Seeds of the training episodes, which give the reward."""
TESTING = range(1_000, 1_100)
"""Seeds of the test episodes."""


def controller(expression: Expression) -> Controller:
    """Turn a formula into a function of one observation: for so few numbers this is faster than arrays."""
    waiting: list[Controller] = []
    for token in reversed(expression.tokens):
        arguments = [waiting.pop() for _ in range(token.arity)]
        waiting.append(_function(token, arguments))
    return waiting[0]


def _function(token: Token, arguments: list[Controller]) -> Controller:
    """Return the function of an operator applied to the functions of its arguments, or of a variable."""
    if token.kind is TokenKind.VARIABLE:
        return operator.itemgetter(token.column)
    operation, (left, right) = OPERATIONS[token.name], arguments
    return lambda observation: operation(left(observation), right(observation))


def play(environment: Environment, control: Controller, seed: int) -> float:
    """Return the return of the episode with this seed."""
    observation, _ = environment.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        action = 1 if control(observation.tolist()) > 0.0 else 0
        observation, reward, has_fallen, is_late, _ = environment.step(action)
        total += float(reward)
        is_over = has_fallen or is_late
    return total


def mean_return(environment: Environment, expression: Expression, seeds: Sequence[int]) -> float:
    """Return the mean return over the episodes with these seeds."""
    control = controller(expression)
    return sum(play(environment, control, seed) for seed in seeds) / len(seeds)


def find(environment: Environment, *, seed: int = 0, budget: Budget | None = None) -> SearchResult:
    """Search for a formula that never lets the pole fall in training."""
    library = Library.of(OPERATIONS, variables=OBSERVATION)
    space = SearchSpace(library, min_length=1, max_length=11)
    task = FunctionTask(
        library, lambda expression: mean_return(environment, expression, TRAINING) / MOST, solved_at=1.0
    )
    return search.run(space, task, SearchSettings(batch=100), seed=seed, budget=budget or Budget(seconds=60.0))


def main() -> None:
    """Run the search and print the formula."""
    environment = gymnasium.make("CartPole-v1")
    result = find(environment)
    last = result.history[-1]
    print(f"Push to the right where {result.best} > 0, else to the left.")
    print(f"Mean return over {len(TESTING)} other episodes: {mean_return(environment, result.best, TESTING):.1f}")
    print(f"Found among {last.unique} formulas in {last.seconds:.1f} seconds.")
    environment.close()


if __name__ == "__main__":
    main()
