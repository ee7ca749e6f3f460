"""The network that reads a table, in PyTorch: what `src/core/reader.cpp` computes, for training.

Parameters have the names and shapes of `_core.Reader.blocks`: kernels are (inputs, outputs). B tables of N rows and C
columns, the target last; T tokens of a formula; W the width of a vector.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

FEATURES = 21
EPSILON = 1e-6
"""Added to a mean square before its root."""
PACKED = 8
"""Rows of tables that share a tile of attention among columns."""
END = 0
"""Id of the padding after a formula's end; symbol s has id 1 + s, and column j has id 1 + symbols + j."""


@dataclass(frozen=True)
class Shape:
    """The shape of a network, as `_core.Reader.of` has it."""

    width: int = 192
    heads: int = 6
    grid_layers: int = 3
    latents: int = 12
    latent_layers: int = 3
    decoder_layers: int = 4
    longest: int = 32
    symbols: int = 11


def features(values: Tensor) -> Tensor:
    """Return the features of each number of tables (B, N, C), (B, N, C, FEATURES)."""
    mean = values.mean(1, keepdim=True)
    largest = values.abs().amax(1, keepdim=True)
    unit = values.std(1, keepdim=True) + 1e-12 * largest + 1e-30
    z = ((values - mean) / unit).clamp(-6.0, 6.0)
    logs = (values.abs() + 1e-12).log().clamp(-20.0, 20.0)
    log_mean, log_spread = logs.mean(1, keepdim=True), logs.std(1, keepdim=True)
    centred = logs - log_mean
    near = values.clamp(-60.0, 60.0)
    columns = [
        z,
        values.sign(),
        logs / 5.0,
        centred.clamp(-6.0, 6.0),
        values.asinh() / 3.0,
        near.sin(),
        near.cos(),
        (values / 2.0).tanh(),
    ]
    for turns in (0.25, 0.5, 1.0):
        angle = 2.0 * math.pi * turns * z
        columns += [angle.sin(), angle.cos()]
    columns += [
        unit.log().clamp(-20.0, 20.0) / 5.0,
        (mean / unit).asinh() / 2.0,
        log_mean / 5.0,
        log_spread,
        centred / (log_spread + 1e-3),
        values.amin(1, keepdim=True).asinh() / 3.0,
        values.amax(1, keepdim=True).asinh() / 3.0,
    ]
    return torch.stack([column.expand_as(values) for column in columns], -1)


def normalised(x: Tensor, gain: Tensor) -> Tensor:
    """Divide by the root mean square (Zhang & Sennrich 2019)."""
    return functional.rms_norm(x, (x.shape[-1],), gain.reshape(-1), EPSILON)


class Attention(nn.Module):
    """x plus what its rows attend to: itself, or a memory (Vaswani et al. 2017)."""

    def __init__(self, shape: Shape, *, has_memory: bool = False) -> None:
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.norm = nn.Parameter(torch.ones(1, width))
        self.memory_norm = nn.Parameter(torch.ones(1, width)) if has_memory else None
        self.query = kernel(width, width)
        self.memory = kernel(width, 2 * width)
        self.out = kernel(width, width)

    def split(self, x: Tensor) -> Tensor:
        """(B, n, W) to (B, heads, n, W / heads)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of a memory."""
        gain = self.norm if self.memory_norm is None else self.memory_norm
        keys, values = (normalised(memory, gain) @ self.memory).chunk(2, -1)
        return self.split(keys), self.split(values)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, *, is_causal: bool = False, mask: Tensor | None = None
    ) -> Tensor:
        """Attend to a memory, or to x; where there is a mask, only to what it marks."""
        keys, values = self.remember(x if memory is None else memory)
        query = self.split(normalised(x, self.norm) @ self.query)
        found = functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask, is_causal=is_causal)
        return x + found.transpose(1, 2).flatten(2) @ self.out


class Feed(nn.Module):
    """x plus a layer of hidden units of it."""

    def __init__(self, shape: Shape, factor: int) -> None:
        super().__init__()
        self.norm = nn.Parameter(torch.ones(1, shape.width))
        self.inner = kernel(shape.width, factor * shape.width)
        self.inner_bias = nn.Parameter(torch.zeros(1, factor * shape.width))
        self.out = kernel(factor * shape.width, shape.width)
        self.out_bias = nn.Parameter(torch.zeros(1, shape.width))

    def forward(self, x: Tensor) -> Tensor:
        """Add the layer."""
        inner = functional.linear(normalised(x, self.norm), self.inner.T, self.inner_bias[0])
        return x + functional.linear(functional.gelu(inner, approximate="tanh"), self.out.T, self.out_bias[0])


class Grid(nn.Module):
    """Attention among the columns of each row, then among the rows of each column."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.columns, self.rows, self.feed = Attention(shape), Attention(shape), Feed(shape, 2)

    def forward(self, x: Tensor) -> Tensor:
        """(B, N, C, W) to the same."""
        tables, rows, columns, _ = x.shape
        # A row has few numbers, and attention kernels compute tiles of many: some rows share one, each with a mask.
        packed = math.gcd(tables * rows, PACKED)
        mask = torch.eye(packed, dtype=torch.bool, device=x.device)
        mask = mask.repeat_interleave(columns, 0).repeat_interleave(columns, 1)
        x = self.columns(x.flatten(0, 1).reshape(-1, packed * columns, x.shape[-1]), mask=mask)
        x = x.reshape(tables, rows, columns, -1)
        x = self.rows(x.transpose(1, 2).flatten(0, 1))
        return self.feed(x).unflatten(0, (tables, columns)).transpose(1, 2)


class Gather(nn.Module):
    """A few vectors that sum up each column (Lee et al. 2019)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.seeds = nn.Parameter(0.1 * torch.randn(shape.latents, shape.width))
        self.attention, self.feed = Attention(shape, has_memory=True), Feed(shape, 2)

    def forward(self, x: Tensor) -> Tensor:
        """(B, N, C, W) to (B, C, latents, W)."""
        tables, _, columns, _ = x.shape
        memory = x.transpose(1, 2).flatten(0, 1)
        out = self.attention(self.seeds.expand(len(memory), -1, -1), memory)
        return self.feed(out).unflatten(0, (tables, columns))


class Latent(nn.Module):
    """Attention among the vectors of all columns."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention, self.feed = Attention(shape), Feed(shape, 4)

    def forward(self, x: Tensor) -> Tensor:
        """(B, n, W) to the same."""
        return self.feed(self.attention(x))


class Decoder(nn.Module):
    """Attention to the prefix and to what was read."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.prefix, self.latents = Attention(shape), Attention(shape, has_memory=True)
        self.feed = Feed(shape, 4)

    def forward(self, x: Tensor, read: Tensor) -> Tensor:
        """(B, T, W) to the same."""
        return self.feed(self.latents(self.prefix(x, is_causal=True), read))


class Reader(nn.Module):
    """The network. `arity` has the number of arguments of each symbol."""

    def __init__(self, shape: Shape, arity: list[int]) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.input = nn.Parameter(0.1 * torch.randn(FEATURES, width))
        self.input_bias = nn.Parameter(torch.zeros(1, width))
        self.input_kind = nn.Parameter(0.1 * torch.randn(2, width))
        self.grid = nn.ModuleList(Grid(shape) for _ in range(shape.grid_layers))
        self.gather = Gather(shape)
        self.latent_kind = nn.Parameter(0.1 * torch.randn(2, width))
        self.latent = nn.ModuleList(Latent(shape) for _ in range(shape.latent_layers))
        self.token = nn.Parameter(0.05 * torch.randn(shape.symbols + 2, width))
        self.place = nn.Parameter(0.05 * torch.randn(shape.longest, width))
        self.open = nn.Parameter(0.05 * torch.randn(shape.longest + 2, width))
        self.column_in, self.column_out = kernel(width, width), kernel(width, width)
        self.column_in_bias = nn.Parameter(torch.zeros(1, width))
        self.decoder = nn.ModuleList(Decoder(shape) for _ in range(shape.decoder_layers))
        self.norm = nn.Parameter(torch.ones(1, width))
        self.head, self.head_bias = kernel(width, shape.symbols), nn.Parameter(torch.zeros(1, shape.symbols))
        self.pointer = kernel(width, width, deviation=0.08)
        # The change in the number of open arguments that each id makes.
        self.change: Tensor
        self.register_buffer("change", torch.tensor([0, *(count - 1 for count in arity)]), persistent=False)

    def read(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Read tables (B, N, C): the vectors that the decoder attends to, and one of each column but the target."""
        x = features(values).to(self.input.dtype) @ self.input + self.input_bias
        x = x + kinds(self.input_kind, values.shape[2])
        for layer in self.grid:
            x = layer(x)
        latent = self.gather(x)
        latent = latent + kinds(self.latent_kind, values.shape[2])[:, None]
        columns = latent.shape[1:3]
        latent = latent.flatten(1, 2)
        for layer in self.latent:
            latent = layer(latent)
        return latent, latent.unflatten(1, columns)[:, :-1].mean(2)

    def opened(self, tokens: Tensor) -> Tensor:
        """Return the number of open arguments before each token of (B, T)."""
        change = torch.where(tokens < len(self.change), self.change[tokens.clamp(max=len(self.change) - 1)], -1)
        after = 1 + change.cumsum(1)
        return torch.cat([torch.ones_like(after[:, :1]), after[:, :-1]], 1).clamp(0, self.shape.longest + 1)

    def logits(self, values: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits of the ids 1, 2, ... at each position of formulas (B, T), (B, T, symbols + columns)."""
        read, columns = self.read(values)
        symbols = self.shape.symbols
        before = torch.cat([torch.zeros_like(tokens[:, :1]), tokens[:, :-1]], 1)
        is_column = before > symbols
        # Symbols as they are; then the beginning, and a variable.
        row = torch.where(before == END, symbols, torch.where(is_column, symbols + 1, before - 1))
        inward = columns @ self.column_in + self.column_in_bias
        column = (before - 1 - symbols).clamp(min=0)
        pointed = inward.gather(1, column[..., None].expand(-1, -1, inward.shape[-1]))
        x = chosen(self.token, row) + pointed * is_column[..., None]
        x = x + self.place[: tokens.shape[1]] + chosen(self.open, self.opened(tokens))
        for layer in self.decoder:
            x = layer(x, read)
        x = normalised(x, self.norm)
        pointer = (x @ self.pointer) @ (columns @ self.column_out).transpose(1, 2) / math.sqrt(self.shape.width)
        return torch.cat([x @ self.head + self.head_bias, pointer], -1)

    def forward(self, values: Tensor, tokens: Tensor) -> Tensor:
        """Return -log p of each token of formulas (B, T), 0 after their ends."""
        logits = self.logits(values, tokens).float()
        wanted = (tokens - 1).masked_fill(tokens == END, -100)
        return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view(tokens.shape)


def kernel(inputs: int, outputs: int, *, deviation: float = 0.02) -> nn.Parameter:
    """Return the kernel of a dense layer."""
    return nn.Parameter(deviation * torch.randn(inputs, outputs))


def chosen(table: Tensor, rows: Tensor) -> Tensor:
    """Return rows of a small table, by a product: the gradient of an index adds up row by row, which is slow."""
    return functional.one_hot(rows, len(table)).to(table.dtype) @ table


def kinds(kind: Tensor, columns: int) -> Tensor:
    """Return a vector for each column: one kind for inputs, the other for the target."""
    return torch.cat([kind[:1].expand(columns - 1, -1), kind[1:]])
