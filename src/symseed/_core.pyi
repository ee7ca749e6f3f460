"""The native core: evaluation, constants, rules, variation, and a cache of scores.

This file is its manual. Axis letters: N rows of a population, L positions in a row, T tokens in a library, M samples,
V variables, K constants in a row.

Rules for every function here:

- Arrays are C-contiguous and of the dtype shown; outputs are new. Arguments that would cause a read outside an array
  raise `ValueError`. There are no other checks: the modules above check, with better messages.
- A row is one complete expression in prefix order: token ids in `tokens[i, :lengths[i]]`, and `constants[i, j]` the
  value of the constant at position j (NaN where the token is not one).
- The interpreter's lock is released while it works. A signal that Python wants to handle (Ctrl-C) ends a call within
  about 50 ms, with whatever the handler raises.
- No state is kept between calls except in the objects passed in. Random functions are pure functions of
  `(seed, step, row)`. The number of threads and the instruction set never change a bit of any result.
"""

import enum
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.uint16]  # (N, L)
Lengths = npt.NDArray[np.int32]  # (N,)
Constants = npt.NDArray[np.float64]  # (N, L)

VARIABLE: int
"""Kind of a token that is an input variable. Kinds below it are opcodes: places in `operators()`."""
LITERAL: int
"""Kind of a token that is a fixed number."""
CONSTANT: int
"""Kind of a token that is a number fitted in each row."""
FUNCTION: int
"""Kind of a token that is an operator of the user's own."""

class Relationship(enum.Enum):
    """Relationships that a rule can forbid."""

    CHILD = 0
    DESCENDANT = 1
    SIBLING = 2
    """Either way round."""
    LEFT_CHILD = 3
    """First argument of an operator that takes two."""
    RIGHT_CHILD = 4
    """Second argument of an operator that takes two."""
    UNIQUE_CHILD = 5
    """The argument of an operator that takes one, or both arguments of one that takes two."""

class Mutation(enum.Enum):
    """The paper's four mutations, and two macros of ours."""

    SUBTREE = 0
    """Any subtree, perhaps the whole row, becomes a new full tree."""
    POINT = 1
    """One token below the root becomes another of the same arity."""
    INSERT = 2
    """An operator is put above any subtree; its other argument is a new terminal."""
    SHRINK = 3
    """An operator below the root gives way to one of its arguments."""
    NUMBER = 4
    """Any subtree f becomes f + n, f - n, f * n or f / n, with n = 1, 2, 3 or 1/2, spelt with a variable if need be."""
    TWICE = 5
    """Any subtree f becomes f + f or f * f."""

class Validity(enum.Enum):
    """What a row must be to have a value."""

    VALUES = 0
    """Each of its tokens has a finite value at every sample."""
    FLAGS = 1
    """No operator raises an IEEE flag either, underflow included: the authors' code of December 2021."""
    ANSWER = 2
    """Only the row itself has finite values, whatever its parts have: the authors' code of March 2021."""

class FitMethod(enum.Enum):
    """How constants are fitted."""

    LEVENBERG_MARQUARDT = 0
    """From the constants that a row has."""
    BFGS_FROM_ONES = 1
    """BFGS on the paper's reward, or on another loss, from constants of 1: as the authors' released code."""

class Failure(enum.IntEnum):
    """Reasons why a row has no score."""

    NONE = 0
    INVALID = 1
    DIVIDE_BY_ZERO = 2
    OVERFLOW = 3
    UNDERFLOW = 4
    LOSS_OVERFLOW = 5
    """Every prediction is finite; the position is -1."""
    NO_ANSWER = 6
    """The position is -1 if it is the loss that gave none."""

    @property
    def sentence(self) -> str:
        """The reason as a sentence for users."""

def operators() -> tuple[tuple[str, int, int], ...]:
    """Name, arity and complexity of every operator, in opcode order."""

def instruction_sets() -> tuple[str, ...]:
    """What this processor can run, best first; the last is "portable". The first is used unless another is named.

    The environment variable SYMSEED_INSTRUCTION_SET, which is read once, moves one of them to the front. If it names
    none of them, this function and all computations raise `SettingsError`.
    """

class Vocabulary:
    """A library as the core sees it."""

    def __init__(
        self,
        kind: npt.NDArray[np.uint8],
        variable: npt.NDArray[np.int32],
        value: npt.NDArray[np.float64],
        functions: list[Function] = [],
    ) -> None:
        """Take, for each of T tokens, its kind, its column (variables) and its value (literals).

        `functions` has one function for each token of the kind FUNCTION, in order.
        """

class Function:
    """An operator of the user's own. Its derivatives are central differences; it has no inverse."""

    @staticmethod
    def of_callable(arity: int, call: Callable[..., npt.NDArray[np.float64] | None]) -> Function:
        """Call Python for each block of samples, with new arrays, from any thread, holding the interpreter's lock.

        If it returns None, the row fails. An exception ends the evaluation of all rows.
        """
    @staticmethod
    def of_expansion(arity: int, expansion: Vocabulary) -> Function:
        """Compute an expression, whose prefix is the vocabulary's tokens in order; its variables are the arguments.

        Values are those of float64 arithmetic, even if an intermediate value is not finite.
        """
    def values(self, a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the values at each element of `a` and `b`, (M,); `b` is ignored by functions of one argument."""

class Samples:
    """The core's own copy of a dataset, in the layout that evaluation needs: M * (V + 2) float64."""

    def __init__(self, X: npt.NDArray[np.float64], y: npt.NDArray[np.float64], weight: npt.NDArray[np.float64]) -> None:
        """Take `X` (M, V), `y` (M,) and `weight` (M,); all finite."""

# Rules; sets of tokens are lists of ids. `symseed.space.constraints` says what each forbids.

class Relation:
    """No target stands in the relationship to an effector."""

    def __init__(self, relationship: Relationship, targets: Sequence[int], effectors: Sequence[int]) -> None: ...

class Limit:
    """At most `most` of the tokens in a row."""

    def __init__(self, tokens: Sequence[int], most: int) -> None: ...

class Need:
    """At least one of the tokens in a row."""

    def __init__(self, tokens: Sequence[int]) -> None: ...

class Size:
    """At most `most` tokens in that argument of the operator."""

    def __init__(self, operator: int, argument: int, most: int) -> None: ...

class Nest:
    """Below an outer token no path downwards has more than `most` inner ones."""

    def __init__(self, outer: Sequence[int], inner: Sequence[int], most: int) -> None: ...

class Dimensional:
    """An expression has the target's physical dimension."""

    def __init__(self, exponents: npt.NDArray[np.int32], constants_are_free: bool) -> None:
        """Take exponents of the dimension of each terminal and of the target, in any unit, (T + 1, up to 8).

        A root whose exponents are not whole is forbidden. A `Function` is treated like its expansion if that is a
        power, a product, a quotient or a similar form, otherwise as a function of pure numbers. If constants are free,
        a fitted constant has whatever dimension is needed, not the given one.
        """

Rule = Relation | Limit | Need | Size | Nest | Dimensional

class Rules:
    """The rules of a search space, as tables read by one walker."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        rules: Sequence[Rule],
        *,
        min_length: int,
        max_length: int,
        bias: npt.NDArray[np.float64],
        soft_location: float,
        soft_variance: float,
    ) -> None:
        """Compile rules, among them at most one `Dimensional`.

        Args:
            bias: (T,), added to every logit.
            soft_location, soft_variance: the soft length prior; a variance of 0 switches it off.
        """
    def logits(self, prefix: npt.NDArray[np.uint16]) -> npt.NDArray[np.float64]:
        """Return what the priors add to each token's logit after `prefix`, -inf where it may not come next, as (T,)."""
    def logits_along(self, tokens: Tokens, lengths: Lengths) -> npt.NDArray[np.float64]:
        """Return `logits` before each token of each row, as (N, L, T); 0 after a row's end.

        Rows are beginnings of legal expressions, or whole ones.
        """
    def violations(self, tokens: Tokens, lengths: Lengths) -> npt.NDArray[np.int32]:
        """Return the first position of each row whose token may not stand there, as (N,).

        -1 for a legal row; its length for a row that is not complete, or goes on after it is.
        """
    def sample(self, count: int, seed: int, step: int, tries: int) -> tuple[Tokens, Lengths]:
        """Draw legal rows, token by token, in proportion to exp(logits).

        A walk that reaches a dead end is restarted, up to `tries` times; then the row's length is 0.
        """

    def random_trees(
        self, count: int, seed: int, step: int, least: int, most: int, tries: int
    ) -> tuple[Tokens, Lengths]:
        """Draw trees of a height from `least` to `most`, full or grown.

        After 100 trees that broke a rule, the row is drawn as by `sample`.
        """

def squared_errors(
    vocabulary: Vocabulary,
    samples: Samples,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    *,
    validity: Validity,
    threads: int,
    loss: Function | None = None,
    instruction_set: str | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Return the weighted sum of squared errors of each row, its failure and the position where it failed, as 3 x (N,).

    A row that has no value, as `validity` says, fails at the first token that shows it. Its error is then NaN. Failures
    are numbers of `Failure`.

    `loss` is a function of target and prediction, whose weighted sum is then the error.
    """

def predictions(
    vocabulary: Vocabulary,
    samples: Samples,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    *,
    validity: Validity,
    threads: int,
    instruction_set: str | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Return the values of each row at each sample (N, M), NaN throughout where it failed; failures and positions."""

def fit_constants(
    vocabulary: Vocabulary,
    samples: Samples,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    *,
    method: FitMethod,
    iterations: int,
    restarts: int,
    seed: int,
    validity: Validity,
    threads: int,
    loss: Function | None = None,
    instruction_set: str | None = None,
) -> tuple[Constants, npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Fit the constants of each row by Levenberg-Marquardt, from the values they have; return them, then as above.

    No row gets a larger error than it came with, nor a constant that is not finite. A row that fails is tried from all
    ones; `restarts` more starts are drawn from (seed, row).
    """

def product(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], *, instruction_set: str | None = None
) -> npt.NDArray[np.float64]:
    """The matrix product, each sum from its first term to its last. The factors may have any strides."""

def dots(
    rows: npt.NDArray[np.float64], vector: npt.NDArray[np.float64], *, instruction_set: str | None = None
) -> npt.NDArray[np.float64]:
    """The product of each row with a vector, summed up in eight lanes."""

def least_squares(
    matrix: npt.NDArray[np.float64],
    goal: npt.NDArray[np.float64],
    cutoff: float,
    *,
    instruction_set: str | None = None,
) -> npt.NDArray[np.float64]:
    """The shortest x for which `matrix` x comes nearest to `goal`; the matrix may have any strides, here and below.

    Directions in which the matrix is smaller than `cutoff` times its largest count as 0 (Householder's QR with
    pivoted columns). All of x is NaN if an input is not finite; so are the results of the functions below.
    """

def normal_solution(
    matrix: npt.NDArray[np.float64], goal: npt.NDArray[np.float64], *, instruction_set: str | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """The x for which `matrix` x comes nearest to `goal`, the inverse of the normal matrix, and R's smallest diagonal.

    Where that is 0, the others are NaN.
    """

def leading_errors(
    matrix: npt.NDArray[np.float64], goal: npt.NDArray[np.float64], *, instruction_set: str | None = None
) -> npt.NDArray[np.float64]:
    """The squared error of least squares with the first column, with the first two, ..., with all.

    A column is ignored if less than 1e-14 of it lies outside the span of the columns before it.
    """

def smallest_direction(
    matrix: npt.NDArray[np.float64], *, instruction_set: str | None = None
) -> tuple[npt.NDArray[np.float64], float, float]:
    """The singular vector of the smallest singular value, that value, and the largest (one-sided Jacobi)."""

def symmetric_eigen(matrix: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Eigenvalues of a symmetric matrix, smallest first, and their vectors as columns (Jacobi)."""

def roots(coefficients: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Real and imaginary parts of the roots of c[0] + c[1] x + ... (Aberth); the last coefficient must not be 0."""

def elementwise(
    opcode: int, a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], *, instruction_set: str | None = None
) -> npt.NDArray[np.float64]:
    """Apply an operator element by element, to any numbers; an operator of one argument ignores `b`."""

def smallest(table: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.int64]:
    """The columns of the `count` smallest values of each row, smallest first; equal values in order of column."""

def atan2(y: float, x: float) -> float:
    """The angle of the point (x, y)."""

def process_evidence(
    inputs: npt.NDArray[np.float64],
    goal: npt.NDArray[np.float64],
    noise: npt.NDArray[np.float64],
    scales: npt.NDArray[np.float64],
    ratio: float,
    *,
    gradient: bool = True,
    instruction_set: str | None = None,
) -> tuple[float, npt.NDArray[np.float64]]:
    """The log marginal likelihood of a Gaussian process, and its gradient, (V + 1,) or empty.

    `inputs` is (V, M). The covariance is s^2 (exp(-1/2 sum ((z - z') / scales)^2) + ratio noise); s and a constant mean
    are those of greatest likelihood. The gradient is by the logarithms of the length scales and of the ratio. All is
    NaN if the covariance is not positive definite to rounding.
    """

def process_prediction(
    inputs: npt.NDArray[np.float64],
    goal: npt.NDArray[np.float64],
    noise: npt.NDArray[np.float64],
    scales: npt.NDArray[np.float64],
    ratio: float,
    points: npt.NDArray[np.float64],
    *,
    instruction_set: str | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """The mean and variance of the process without noise at `points` (V, Q), each (Q,).

    Then the mean and variance of each row's noisy value given all other rows, each (M,), and the variance of the noise
    of a row whose noise factor is 1.
    """

def linearise(
    vocabulary: Vocabulary,
    samples: Samples,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    *,
    loss: Function | None = None,
) -> tuple[float, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the terms of a Gauss-Newton step for one row.

    The squared error, the weighted sums of residual * derivative (K,) and of derivative * derivative (K, K). With a
    loss, residuals are half of its slope, and squares are weighed such that they have the slope of the loss.
    """

class Lookup:
    """Rows asked about, between `Cache.look_up` and `Cache.keep`."""

class Cache:
    """Errors, failures and fitted constants by a 128-bit fingerprint of the row; bounded in memory.

    Threads may share it, and a user's function that it calls may use it too. A row that two of them score at the same
    time is computed twice, with the same result.
    """

    def __init__(self, max_bytes: int, constants_per_row: int) -> None:
        """Keep at most `max_bytes`; rows with more constants than `constants_per_row`, up to 32,768, are not kept.

        When it is full, a new row replaces one of sixteen others, selected by its fingerprint.
        """
    def score(
        self,
        vocabulary: Vocabulary,
        samples: Samples,
        tokens: Tokens,
        lengths: Lengths,
        constants: Constants,
        *,
        fit: tuple[int, int, int, FitMethod] | None,
        validity: Validity,
        threads: int,
        loss: Function | None = None,
        instruction_set: str | None = None,
    ) -> tuple[
        npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32], Constants | None, npt.NDArray[np.uint8]
    ]:
        """Return errors, failures, positions, constants, and for each row whether it had to be computed (1) or not.

        Constants are None without `fit`.

        Scores are those of `fit_constants` with `fit` = (iterations, restarts, seed, method), or of `squared_errors`
        without.
        One cache serves one dataset and one set of options.
        """
    def look_up(
        self, vocabulary: Vocabulary, tokens: Tokens, lengths: Lengths, constants: Constants, *, fits: bool
    ) -> tuple[Lookup, Tokens, Lengths, Constants]:
        """Return what the cache knows, and the rows that it lacks, each once: whoever computes them calls `keep`.

        With `fits`, scores are those of fitted constants.
        """
    def keep(
        self,
        vocabulary: Vocabulary,
        lookup: Lookup,
        constants: Constants,
        error: npt.NDArray[np.float64],
        failure: npt.NDArray[np.uint8],
        position: npt.NDArray[np.int32],
    ) -> tuple[
        npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32], Constants | None, npt.NDArray[np.uint8]
    ]:
        """Take the results of the rows that `look_up` returned, and return what `score` does."""
    @property
    def counts(self) -> tuple[int, int, int]:
        """Rows asked about, rows computed, and different rows among these.

        The last is exact until the cache drops a row, then an estimate (standard error 0.8 %).
        """
    @property
    def size(self) -> int:
        """Rows kept."""
    @property
    def bytes(self) -> int:
        """Memory that it takes now."""

LONGEST_KEPT: int
"""Tokens of the longest sub-expression that a `Completion` can keep."""

class Completion:
    """Sub-expressions by the values that they take, and rows completed with them; bounded in memory.

    The table doubles as it fills, up to its limit. A sub-expression has two places in it, given by its values; if both
    hold other values, it replaces the longer of the two sub-expressions there, or the second if they are equally long.
    The shortest sub-expression with given values is kept; sub-expressions with a fitted constant are not kept. Values
    are equal if two projections of them agree to about 2^-30 of their own scale (the first falls into the same cell of
    a grid, the second lies within two cells). Threads may share it.
    """

    def __init__(self, vocabulary: Vocabulary, samples: Samples, max_bytes: int, longest: int, points: int) -> None:
        """Take the data; `points` of its samples are compared, spread evenly over those whose target is not 0."""
    def complete(
        self,
        rules: Rules,
        tokens: Tokens,
        lengths: Lengths,
        constants: Constants,
        chosen: npt.NDArray[np.int64],
        *,
        instruction_set: str | None = None,
    ) -> tuple[Tokens, Lengths, Constants, npt.NDArray[np.int64]]:
        """Add the sub-expressions of the chosen rows, then return completions, and the row that each was made from.

        At most N completions are returned, all of them legal. The desired values of a node come from inverting the
        operators above it, on their principal branches (semantic backpropagation, Pawlak et al. 2015).
        """
    @property
    def lookups(self) -> int:
        """Nodes whose desired values were looked up so far."""
    @property
    def hits(self) -> int:
        """Look-ups that found a sub-expression other than the one that stood there."""
    @property
    def splices(self) -> int:
        """Hits that the rules allow."""
    @property
    def size(self) -> int:
        """Sub-expressions kept."""
    @property
    def bytes(self) -> int:
        """Memory that the table takes now."""

def semantics(
    vocabulary: Vocabulary,
    samples: Samples,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    *,
    instruction_set: str | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the values of every node of one row, and its desired values: those that would make the row the target.

    Both are (length of the row, M); NaN where the row fails, or where no inverse leads to the node.
    """

def fingerprints(
    vocabulary: Vocabulary, tokens: Tokens, lengths: Lengths, constants: Constants
) -> npt.NDArray[np.uint64]:
    """Return 128 bits per row, (N, 2): equal for equal tokens and constants, else different but for 1 in 2^128."""

class Reader:
    """A network that reads a table, and gives the probability of each next token of a formula."""

    @staticmethod
    def of(
        *,
        width: int,
        heads: int,
        grid_layers: int,
        latents: int,
        latent_layers: int,
        decoder_layers: int,
        longest: int,
        symbols: int,
    ) -> Reader:
        """Build one without parameters; `symbols` is the number of tokens that it knows besides variables."""
    def blocks(self) -> list[tuple[str, int, int]]:
        """Return name, rows and columns of each part of the P parameters; kernels are (inputs, outputs)."""
    def assign(self, parameters: npt.NDArray[np.float32]) -> None:
        """Take the parameters (P,), block after block."""
    def read(self, values: npt.NDArray[np.float64], *, instruction_set: str | None = None) -> Reading:
        """Read a table (M, C), the target last."""

class Reading:
    """A table as a `Reader` has read it. Threads may share it.

    `spoken` (T,) has for each token of the rules' library a symbol, the number of symbols + a column, or -1: the
    network does not know the token, and never gives it.
    """

    def sample(
        self,
        rules: Rules,
        spoken: npt.NDArray[np.int32],
        count: int,
        *,
        temperature: float = 1.0,
        seed: int,
        step: int,
    ) -> tuple[Tokens, Lengths, npt.NDArray[np.float64]]:
        """Draw legal rows, each of its own stream; one that reaches a dead end has length 0. Return log p too (N,)."""
    def log_probabilities(
        self,
        rules: Rules,
        spoken: npt.NDArray[np.int32],
        tokens: Tokens,
        lengths: Lengths,
        constants: Constants,
    ) -> npt.NDArray[np.float64]:
        """Return log p of each row (N,), -inf for one that cannot be drawn."""

class Lstm:
    """A recurrent network over prefixes: the policy. Numbers are float32, or float64 if `is_double`.

    It sees the parent and the left sibling of the token to come, and on request the token before it and the number of
    open arguments. The first layer's kernels begin at zero, so the first distribution is that of the priors alone.
    Threads may share it: each call sees the network as it is when the call begins.
    """

    def __init__(
        self,
        tokens: int,
        hidden: int,
        layers: int,
        sees_previous: bool,
        sees_open: bool,
        is_double: bool,
        seed: int,
    ) -> None:
        """Build it for T `tokens`; `seed` draws the output layer's first weights."""
    def blocks(self) -> list[tuple[str, int, int, int]]:
        """Return name, offset, rows and columns of each part of the P parameters; gates are input, candidate, forget,
        output.
        """
    def sample(self, rules: Rules, count: int, seed: int, step: int, threads: int) -> tuple[Tokens, Lengths]:
        """Draw legal rows; a row that reaches a dead end in 1,000 walks has length 0."""
    def log_probabilities(
        self, rules: Rules, tokens: Tokens, lengths: Lengths, constants: Constants
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return log p of each row (N,), -inf where it is not legal, and the entropies along it (N, L)."""
    def distributions(
        self, rules: Rules, tokens: Tokens, lengths: Lengths, constants: Constants
    ) -> npt.NDArray[np.float64]:
        """Return the probability of each token at each position of one row, (L, T): 0 once the row is not legal."""
    def gradient(
        self,
        rules: Rules,
        tokens: Tokens,
        lengths: Lengths,
        constants: Constants,
        weight: npt.NDArray[np.float64],
        entropy: npt.NDArray[np.float64],
        decay: float,
    ) -> npt.NDArray[np.floating]:
        """Return the gradient (P,) of sum weight log p + sum entropy sum_t decay^t H_t; illegal rows do not count."""
    def ascend(
        self,
        rules: Rules,
        tokens: Tokens,
        lengths: Lengths,
        constants: Constants,
        weight: npt.NDArray[np.float64],
        entropy: npt.NDArray[np.float64],
        decay: float,
        learning_rate: float,
    ) -> None:
        """Take one step of Adam up that gradient."""
    def state(self) -> tuple[npt.NDArray[np.float64], int]:
        """Return parameters and Adam's two moments (3, P), and the number of its steps."""
    def set_state(self, state: npt.NDArray[np.float64], steps: int) -> None:
        """Restore such a state."""

class VarySettings:
    """How a generation varies."""

    def __init__(
        self,
        crossover: float,
        mutation: float,
        tournament: int,
        new_depth: int,
        retries: int,
        weights: list[float],
        any_parent: bool,
    ) -> None:
        """Take probabilities, sizes and weights, as `VariationSettings` explains them."""

def tournament(reward: npt.NDArray[np.float64], count: int, size: int, seed: int, step: int) -> npt.NDArray[np.int64]:
    """Return `count` rows, each the best of `size` drawn with replacement (the first drawn of equals)."""

def crossover(
    rules: Rules,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    settings: VarySettings,
    seed: int,
    step: int,
) -> tuple[Tokens, Lengths, Constants]:
    """Swap one subtree, not the whole, between rows 0 and 1, 2 and 3, and so on; return the children.

    A child that breaks a rule is a copy of its parent. L is at least `max_length` in what is returned.
    """

def mutate(
    rules: Rules,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    mutation: Mutation,
    settings: VarySettings,
    seed: int,
    step: int,
) -> tuple[Tokens, Lengths, Constants]:
    """Mutate each row."""

def next_generation(
    rules: Rules,
    tokens: Tokens,
    lengths: Lengths,
    constants: Constants,
    reward: npt.NDArray[np.float64],
    settings: VarySettings,
    seed: int,
    step: int,
) -> tuple[Tokens, Lengths, Constants | None, npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return as many children as rows, the row that each began as, and what was done to it.

    That is 1 for crossed, 2 for mutated, 3 for both, 0 for neither.

    Constants are None if the library has none. Winners of tournaments are paired (with a tournament of 0, each row is
    its own parent); each pair crosses with one probability, then each row mutates with the other. A row counts as
    touched even if its child broke a rule and was undone.
    """

def kernel_sources() -> dict[str, str]:
    """Return the source of the kernels for devices by file: this core's own headers, and `device.cu`."""

def programs(
    vocabulary: Vocabulary, tokens: Tokens, lengths: Lengths, constants: Constants, *, threads: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """Return rows as programs for a device: instructions (I, 16), numbers, rows (N, 5), and which rows (N,) it can
    compute.

    They are the structures of `program.hpp`. A device cannot compute a row with a user's operator, or with a constant
    that is not finite.
    """

def failures(
    opcode: npt.NDArray[np.uint8], a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]
) -> npt.NDArray[np.uint8]:
    """Return the failure of each operator at its arguments; `b` is ignored by operators of one argument."""

class Fittings:
    """The fits of `fit_constants`, with squared errors, for whoever computes errors and linearisations elsewhere."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        tokens: Tokens,
        lengths: Lengths,
        constants: Constants,
        *,
        iterations: int,
        restarts: int,
        seed: int,
        threads: int,
    ) -> None:
        """Begin the fits."""
    def needs(self) -> npt.NDArray[np.uint8]:
        """Return what each row needs: 0 nothing, 1 the error of `constants`, 2 the linearisation there."""
    def constants(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Return the constants of rows that need an error: those of one row after those of another, each in order."""
    def take_errors(
        self,
        rows: npt.NDArray[np.uint32],
        error: npt.NDArray[np.float64],
        failure: npt.NDArray[np.uint8],
        position: npt.NDArray[np.int32],
    ) -> None:
        """Take the errors that rows need."""
    def take_linearisations(self, rows: npt.NDArray[np.uint32], sums: npt.NDArray[np.float64]) -> None:
        """Take the linearisations that rows need: of each row the weighted sums of squared residuals, of residual *
        derivative for each constant, and of derivative i * derivative j for j <= i, i by i.
        """
    def best(self) -> tuple[Constants, npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
        """Return constants, errors, failures and positions: final once no row needs anything."""
