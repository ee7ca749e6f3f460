"""The slow twin of the network that reads tables: the same in NumPy and float64, one formula at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.network import Shape

Parameters = Mapping[str, npt.NDArray[Any]]


def features(values: Floats) -> Floats:
    """Return what the first layer reads of each number, (N, C, features)."""
    out = np.empty((*values.shape, 21))
    for column, x in enumerate(values.T):
        spread = np.std(x, ddof=1) if len(x) > 1 else 0.0
        unit = spread + 1e-12 * np.abs(x).max() + 1e-30
        z = np.clip((x - x.mean()) / unit, -6, 6)
        logs = np.clip(np.log(np.abs(x) + 1e-12), -20, 20)
        around = logs - logs.mean()
        log_spread = np.std(logs, ddof=1) if len(x) > 1 else 0.0
        waves = [f(math.pi / 2 * k * z) for k in (1, 2, 4) for f in (np.sin, np.cos)]
        near = np.clip(x, -60, 60)
        whole = [np.clip(np.log(unit), -20, 20) / 5, np.arcsinh(x.mean() / unit) / 2, logs.mean() / 5, log_spread]
        ends = [np.arcsinh(x.min()) / 3, np.arcsinh(x.max()) / 3]
        own = [z, np.sign(x), logs / 5, np.clip(around, -6, 6), np.arcsinh(x) / 3, np.sin(near), np.cos(near)]
        own += [np.tanh(x / 2), *waves, *whole, around / (log_spread + 1e-3), *ends]
        out[:, column] = np.stack([np.broadcast_to(one, x.shape) for one in own], axis=1)
    return out


def normalised(x: Floats, gain: Floats) -> Floats:
    return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * gain[0])


def softmax(x: Floats) -> Floats:
    out = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(out / out.sum(axis=-1, keepdims=True))


class Twin:
    """A network."""

    def __init__(self, shape: Shape, parameters: Parameters) -> None:
        self.shape = shape
        self._own = {name: np.asarray(block, dtype=np.float64) for name, block in parameters.items()}

    def attend(self, name: str, x: Floats, memory: Floats | None = None, *, is_causal: bool = False) -> Floats:
        own, width = self._own, self.shape.width
        gain = own.get(f"{name}.memory_norm", own[f"{name}.norm"])
        query = normalised(x, own[f"{name}.norm"]) @ own[f"{name}.query"]
        both = normalised(x if memory is None else memory, gain) @ own[f"{name}.memory"]
        keys, values = both[:, :width], both[:, width:]
        found = np.empty_like(query)
        for head in np.split(np.arange(width), self.shape.heads):
            scores = query[:, head] @ keys[:, head].T / math.sqrt(len(head))
            if is_causal:
                scores = np.where(np.tril(np.ones_like(scores)) > 0, scores, -np.inf)
            found[:, head] = softmax(scores) @ values[:, head]
        return np.asarray(x + found @ own[f"{name}.out"])

    def feed(self, name: str, x: Floats) -> Floats:
        own = self._own
        inner = normalised(x, own[f"{name}.norm"]) @ own[f"{name}.inner"] + own[f"{name}.inner_bias"]
        inner = 0.5 * inner * (1 + np.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)))
        return np.asarray(x + inner @ own[f"{name}.out"] + own[f"{name}.out_bias"])

    def read(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the latent vectors, and one vector for each column but the target."""
        own = self._own
        columns = values.shape[1]
        kind = np.array([0] * (columns - 1) + [1])
        x = features(values) @ own["input"] + own["input_bias"] + own["input_kind"][kind]
        for layer in range(self.shape.grid_layers):
            x = np.stack([self.attend(f"grid.{layer}.columns", row) for row in x])
            x = np.stack([self.attend(f"grid.{layer}.rows", column) for column in x.swapaxes(0, 1)], axis=1)
            x = np.stack([self.feed(f"grid.{layer}.feed", row) for row in x])
        latent = []
        for column in range(columns):
            found = self.attend("gather.attention", own["gather.seeds"], x[:, column])
            latent.append(self.feed("gather.feed", found) + own["latent_kind"][kind[column]])
        out = np.concatenate(latent)
        for layer in range(self.shape.latent_layers):
            out = self.feed(f"latent.{layer}.feed", self.attend(f"latent.{layer}.attention", out))
        return out, out.reshape(columns, self.shape.latents, -1)[:-1].mean(axis=1)

    def logits(self, values: Floats, spoken: Sequence[int], arities: Sequence[int]) -> Floats:
        """Return the logits of symbols and columns at each position of a formula, given as symbols and columns."""
        own, symbols = self._own, self.shape.symbols
        latent, columns = self.read(values)
        inward = columns @ own["column_in"] + own["column_in_bias"]
        rows, opened = [own["token"][symbols]], [1]
        for one, arity in zip(spoken[:-1], arities[:-1], strict=True):
            is_column = one >= symbols
            rows.append(own["token"][symbols + 1] + inward[one - symbols] if is_column else own["token"][one])
            opened.append(opened[-1] + arity - 1)
        x = np.stack(rows) + own["place"][: len(rows)] + own["open"][np.minimum(opened, self.shape.longest + 1)]
        for layer in range(self.shape.decoder_layers):
            x = self.attend(f"decoder.{layer}.prefix", x, is_causal=True)
            x = self.feed(f"decoder.{layer}.feed", self.attend(f"decoder.{layer}.latents", x, latent))
        x = normalised(x, own["norm"])
        pointed = (x @ own["pointer"]) @ (columns @ own["column_out"]).T / math.sqrt(self.shape.width)
        return np.concatenate([x @ own["head"] + own["head_bias"], pointed], axis=1)
