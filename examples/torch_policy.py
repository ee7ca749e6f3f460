"""Guide a search with a custom policy: a GRU in PyTorch, which learns here without genetic programming.

A policy is any object with the methods of `symseed.search.Policy`. `space.logits` masks illegal tokens, for one prefix
at a time. Needs torch. Dimensions: N rows of a population, L positions in a row, T tokens in the library.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

try:
    import torch
    from torch import nn
except ImportError:
    raise SystemExit(
        "This example needs torch: run `pip install torch --index-url https://download.pytorch.org/whl/cpu`."
    ) from None

from symseed import (
    Budget,
    Dataset,
    Library,
    Population,
    RegressionTask,
    SearchResult,
    SearchSettings,
    SearchSpace,
    SpaceError,
    search,
)
from symseed.search import EntropySettings, Lesson, RiskSeekingTrainer

FORBIDDEN = -1e9
"""Used instead of a logit of -inf, which would make the entropy NaN."""


class GRUPolicy:
    """Predicts the next token from all tokens so far: an embedding, a GRU and a linear layer."""

    def __init__(self, space: SearchSpace, *, hidden: int = 32, learning_rate: float = 0.01, seed: int = 0) -> None:
        self.space = space
        count = len(space.library)
        with torch.random.fork_rng():  # leaves the global generator as it was
            torch.manual_seed(seed)
            self._embedding = nn.Embedding(count + 1, hidden)  # one more for the start
            self._gru = nn.GRU(hidden, hidden, batch_first=True)
            self._head = nn.Linear(hidden, count)
        parameters = [*self._embedding.parameters(), *self._gru.parameters(), *self._head.parameters()]
        self._optimiser = torch.optim.Adam(parameters, lr=learning_rate, maximize=True)

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        """Sample legal expressions, one token at a time for all rows."""
        rng = np.random.default_rng([seed, step])
        library = self.space.library
        tokens = np.full((count, self.space.max_length), library.pad)
        lengths = np.zeros(count, dtype=np.int64)
        missing = np.ones(count, dtype=np.int64)  # open arguments
        newest, state = np.full(count, len(library)), None
        for position in range(self.space.max_length):
            with torch.no_grad():
                output, state = self._gru(self._embedding(torch.from_numpy(newest)[:, None]), state)
                logits = self._head(output[:, 0]).numpy()
            noisy = logits + rng.gumbel(size=logits.shape)  # the Gumbel-max trick: argmax samples from softmax(logits)
            for row in np.flatnonzero(missing):
                newest[row] = self._choose(noisy[row], tokens[row, :position].tolist())
            tokens[missing > 0, position] = newest[missing > 0]
            lengths += missing > 0
            missing += np.where(missing > 0, library.arities[newest] - 1, 0)
        return Population.of(library, tokens, lengths)

    def log_probability(self, population: Population) -> npt.NDArray[np.float64]:
        """Return log p of each row, -inf for illegal rows, (N,)."""
        result = np.full(len(population), -np.inf)
        legal = self.space.violations(population) == -1
        if legal.any():
            with torch.no_grad():
                result[legal] = self._along(population.take(legal))[0].sum(dim=1).numpy()
        return result

    def ascend(self, lesson: Lesson) -> None:
        """Take one Adam step that increases the objective of the lesson."""
        log_p, entropy = self._along(lesson.population)
        weights = torch.from_numpy(lesson.weights).float()
        decay = lesson.entropy_decay ** torch.arange(entropy.shape[1])
        objective = weights @ log_p.sum(dim=1) + lesson.entropy_weight * (entropy @ decay).mean()
        self._optimiser.zero_grad()
        torch.autograd.backward(objective)
        self._optimiser.step()

    def _choose(self, logits: npt.NDArray[np.float64], prefix: list[int]) -> int:
        """Return the legal token with the largest logit."""
        allowed = self.space.logits(prefix)
        if np.isneginf(allowed).all():
            raise SpaceError("Sampling reached a prefix without a legal next token. Relax the constraints.")
        return int(np.argmax(logits + allowed))

    def _along(self, population: Population) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log probability of each token and the entropy at its position, 0 after the end, 2 x (N, L)."""
        inside = torch.from_numpy(np.arange(population.tokens.shape[1]) < population.lengths[:, None])
        tokens = torch.where(inside, torch.from_numpy(population.tokens.astype(np.int64)), 0)
        start = torch.full((len(population), 1), len(self.space.library))
        output, _ = self._gru(self._embedding(torch.cat([start, tokens[:, :-1]], dim=1)))
        log_p = torch.log_softmax(self._head(output) + torch.from_numpy(self._allowed(population)), dim=2)
        chosen = log_p.gather(2, tokens[:, :, None])[:, :, 0]
        entropy = -(log_p.exp() * log_p).sum(dim=2)
        return torch.where(inside, chosen, 0.0), torch.where(inside, entropy, 0.0)

    def _allowed(self, population: Population) -> npt.NDArray[np.float32]:
        """Return what the space adds to the logits at each position of legal rows, (N, L, T)."""
        return np.maximum(self.space.logits_along(population).astype(np.float32), FORBIDDEN)


def find(*, seed: int = 0, budget: Budget | None = None) -> SearchResult:
    """Search for x^3 + x^2 + x, the first Nguyen problem, from 20 points."""
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, size=20)
    library = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], variables=["x"])
    space = SearchSpace(library, max_length=20)
    task = RegressionTask(library, Dataset.of(x, x**3 + x**2 + x))
    trainer = RiskSeekingTrainer(risk=0.1, entropy=EntropySettings(weight=0.03, decay=0.7))
    return search.run(
        space,
        task,
        SearchSettings(batch=200, trainer=trainer, evolution=None),
        seed=seed,
        budget=budget or Budget(expressions=100_000),
        policy=GRUPolicy(space, seed=seed),
    )


def main() -> None:
    """Run the search and print the formula."""
    torch.set_num_threads(1)  # a network this small gains nothing from more
    result = find()
    first, last = result.history[0], result.history[-1]
    print(f"Formula:      {result.best}")
    print(f"Verdict:      {result.reason.value}")
    print(f"Mean reward:  {first.sampled:.3f} in the first batch of samples, {last.sampled:.3f} in the last")
    print(f"Effort:       {last.charged} samples in {last.seconds:.1f} seconds")


if __name__ == "__main__":
    main()
