"""Train the network on a GPU, restartable; `export.py` then writes the file that symseed reads.

    python neural/train.py --seconds 1500 --out build/neural             # at once
    python neural/train.py --seconds 1500 --stop-after 540 --out build/neural    # in parts; again to continue
    python neural/train.py --seconds 2400 --begin-with network.safetensors       # on from weights and neural/log.jsonl
    python neural/train.py --seconds 20 --device cpu --numbers 4096 --width 32 --heads 2   # a trial without a GPU

It needs PyTorch, NumPy, safetensors and a C++ compiler, and nothing else of symseed than this folder.

Weights are bfloat16 with float32 copies that AdamW (Loshchilov & Hutter 2019) changes; the averages of these over the
steps are the result. The log is a line of JSON every hundred steps. A checkpoint, which is written every few minutes
too, has the copies, the averages and AdamW's moments with 16 bits each, in files of their own. Weights that ship have
no moments: a training that goes on from them takes its progress from `neural/log.jsonl`, and its rate rises anew.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from corpus import ARITY, LONGEST, SYMBOLS, Batch, Corpus, Stream
from model import END, Reader, Shape
from safetensors.torch import load_file, save_file
from torch import Tensor

PEAK, FLOOR = 1e-3, 2e-2
"""Largest learning rate, and the share of it at the end."""
WARM, FALL = 600, 0.3
"""Steps in which the rate rises, and the share of the time after which it falls."""
AVERAGE = 0.999
"""How slowly the averages follow the weights."""
VALIDATION = ((1, 8), (1, 64), (2, 64), (3, 16), (3, 64), (3, 256), (5, 128), (7, 128), (9, 256))
"""Columns and rows of the tables for validation."""
PARTS = ("copies", "averages", "first", "second")
"""The parts of a checkpoint."""
FINE = 4096.0
"""Factor by which AdamW's moments are stored: those of 1e-8 would be 0 with 16 bits, and those of size 1 still fit."""
KEPT = 150.0
"""Seconds between two checkpoints."""
PROGRESS, LOG = "progress.json", "log.jsonl"


@dataclass
class Progress:
    """How far the training is."""

    steps: int = 0
    batches: int = 0
    tables: int = 0
    seconds: float = 0.0
    begun: int = 0
    """The steps before AdamW had its first moments: those of the training that this one goes on from."""


class Trainer:
    """A network under training."""

    def __init__(self, shape: Shape, device: str, seed: int) -> None:
        torch.manual_seed(seed)
        self.device, self.seed = device, seed
        self.where = torch.cuda.get_device_name() if device != "cpu" else "a CPU"
        self.progress = Progress()
        self.model = Reader(shape, list(ARITY)).to(device)
        self.names = [name for name, _ in self.model.named_parameters()]
        self.copies = [value.detach().clone().float() for value in self.model.parameters()]
        self.averages = [value.clone() for value in self.copies]
        if device != "cpu":
            self.model.bfloat16()
        self.weights: list[Tensor] = list(self.model.parameters())
        is_fused = device != "cpu"
        self.optimiser = torch.optim.AdamW(self.copies, lr=PEAK, betas=(0.9, 0.98), weight_decay=0.01, fused=is_fused)

    def step(self, batches: list[Batch], rate: float) -> tuple[Tensor, Tensor]:
        """Learn from some batches; return the mean loss of a token, and the size of the gradient."""
        total = torch.zeros((), device=self.device)
        for batch in batches:
            values, ids = self.put(batch)
            loss = self.model(values, ids).sum() / (ids != END).sum()
            (loss / len(batches)).backward()
            total += loss.detach() / len(batches)
            self.progress.tables += len(ids)
        for copy, weight in zip(self.copies, self.weights, strict=True):
            copy.grad = None if weight.grad is None else weight.grad.float()
            weight.grad = None
        norm = torch.nn.utils.clip_grad_norm_(self.copies, 1.0)
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()
        slow = min(AVERAGE, 1.0 - 10.0 / (self.progress.steps - self.progress.begun + 20))
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.copies)
            torch._foreach_lerp_(self.averages, self.copies, 1.0 - slow)
        self.progress.steps += 1
        self.progress.batches += len(batches)
        return total, norm

    def put(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Bring a batch to the device, cut to its longest formula."""
        values, ids = batch
        longest = int((ids != END).sum(1).max())
        tokens = torch.from_numpy(ids[:, : min(LONGEST, -(-longest // 4) * 4)].astype(np.int64))
        return torch.from_numpy(values).to(self.device, non_blocking=True), tokens.to(self.device, non_blocking=True)

    @torch.no_grad()
    def validate(self, batches: list[Batch]) -> list[float]:
        """Return the nats of a token on each batch, by the averages."""
        kept = [weight.clone() for weight in self.weights]
        torch._foreach_copy_(self.weights, self.averages)
        out = []
        for batch in batches:
            values, ids = self.put(batch)
            out.append(round(float(self.model(values, ids).sum() / (ids != END).sum()), 4))
        torch._foreach_copy_(self.weights, kept)
        return out

    def save(self, folder: Path) -> None:
        """Write a checkpoint; one that is interrupted leaves the one before, of which the last step says that it is."""
        states = [self.optimiser.state[copy] for copy in self.copies]
        moments = ([s["exp_avg"] * FINE for s in states], [s["exp_avg_sq"].sqrt() * FINE for s in states])
        written = []
        for name, values in zip(PARTS, (self.copies, self.averages, *moments), strict=True):
            half = {key: value.detach().half().cpu() for key, value in zip(self.names, values, strict=True)}
            path = folder / f"{name}.part"
            save_file(half, path, metadata={"steps": str(self.progress.steps)})
            written.append((path, folder / f"{name}.safetensors"))
        path = folder / "progress.part"
        described = {
            **asdict(self.progress),
            "seed": self.seed,
            "device": self.where,
            "shape": asdict(self.model.shape),
        }
        path.write_text(json.dumps(described), encoding="utf-8")
        for part, whole in [*written, (path, folder / PROGRESS)]:
            part.replace(whole)

    def begin_with(self, weights: Path, log: Path) -> None:
        """Go on from weights that `export.py` wrote, and from the end of their log."""
        last = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
        counts = {name: last[name] for name in ("steps", "batches", "tables", "seconds")}
        self.progress = Progress(**counts, begun=last["steps"])
        found = load_file(weights, device=self.device)
        for name, copy, average in zip(self.names, self.copies, self.averages, strict=True):
            copy.copy_(found[name])
            average.copy_(found[name])
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.copies)

    def load(self, folder: Path) -> None:
        """Continue from a checkpoint."""
        found = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
        if found.pop("shape") != asdict(self.model.shape) or found.pop("seed") != self.seed:
            raise SystemExit(f"{folder} has a training of another shape or seed. Give the same, or another folder.")
        found.pop("device")
        self.progress = Progress(**found)
        parts = {name: load_file(folder / f"{name}.safetensors", device=self.device) for name in PARTS}
        for index, name in enumerate(self.names):
            self.copies[index].copy_(parts["copies"][name])
            self.averages[index].copy_(parts["averages"][name])
            self.optimiser.state[self.copies[index]] = {
                "step": torch.tensor(float(self.progress.steps - self.progress.begun), device=self.device),
                "exp_avg": parts["first"][name].float() / FINE,
                "exp_avg_sq": (parts["second"][name].float() / FINE).square(),
            }
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.copies)


def rate(progress: Progress, seconds: float) -> float:
    """Return the learning rate: it rises, stays, and falls in a line to the end of the planned time."""
    share = progress.seconds / seconds
    falling = 1.0 if share < FALL else max(FLOOR, 1.0 - (share - FALL) / (1.0 - FALL))
    return PEAK * min(1.0, (progress.steps - progress.begun + 1) / WARM) * falling


def train(trainer: Trainer, corpus: Corpus, asked: argparse.Namespace) -> None:
    """Train until the planned time, or this part of it, is over."""
    progress = trainer.progress
    validation = [
        corpus.draw(987_654_321 + place, columns, rows, asked.validation, for_validation=True)
        for place, (columns, rows) in enumerate(VALIDATION)
    ]
    stream = Stream(corpus, asked.seed, numbers=asked.numbers, threads=asked.threads, begin=progress.batches)
    before, began, losses, kept = progress.seconds, time.monotonic(), [], 0.0
    with (asked.out / LOG).open("a", encoding="utf-8") as log:

        def write(**more: Any) -> None:
            line = json.dumps({**asdict(progress), "seconds": round(progress.seconds, 1), **more})
            log.write(line + "\n")
            log.flush()
            if progress.steps % (5 * asked.every) == 0:
                print(line, flush=True)

        while progress.seconds < asked.seconds and progress.seconds - before < asked.stop_after:
            loss, norm = trainer.step([next(stream) for _ in range(asked.gather)], rate(progress, asked.seconds))
            losses.append(loss)
            progress.seconds = before + time.monotonic() - began
            if progress.seconds - before - kept > KEPT:
                kept = progress.seconds - before
                trainer.save(asked.out)
            if progress.steps % asked.every == 0:
                value = float(torch.stack(losses).mean())
                losses.clear()
                if not math.isfinite(value):
                    raise SystemExit("The loss is not finite.")
                more = {"validation": trainer.validate(validation)} if progress.steps % (10 * asked.every) == 0 else {}
                write(loss=round(value, 4), norm=round(float(norm), 3), waited=round(stream.waited, 1), **more)
        write(validation=trainer.validate(validation))
    trainer.save(asked.out)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1500.0, help="the time that is planned in all")
    parser.add_argument("--stop-after", type=float, default=math.inf, help="seconds of this part of it")
    parser.add_argument("--out", type=Path, default=Path("build/neural"))
    parser.add_argument("--begin-with", type=Path, help="weights of `export.py`, with their log in this folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=14, help="that draw formulas")
    parser.add_argument("--numbers", type=int, default=262_144, help="of the tables of a batch")
    parser.add_argument("--gather", type=int, default=2, help="batches of a step")
    parser.add_argument("--every", type=int, default=100, help="steps between two lines of the log")
    parser.add_argument("--validation", type=int, default=256, help="tables of each size for validation")
    for name, value in asdict(Shape()).items():
        if name not in ("longest", "symbols"):
            parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.device != "cpu":
        torch.backends.cuda.enable_cudnn_sdp(False)
    shape = {name: getattr(asked, name) for name in asdict(Shape()) if name not in ("longest", "symbols")}
    trainer = Trainer(Shape(**shape, longest=LONGEST, symbols=len(SYMBOLS)), asked.device, asked.seed)
    if (asked.out / PROGRESS).exists():
        trainer.load(asked.out)
    elif asked.begin_with is not None:
        own = Path(__file__).with_name(LOG)
        trainer.begin_with(asked.begin_with, own)
        shutil.copyfile(own, asked.out / LOG)
    train(trainer, Corpus.build(asked.out), asked)


if __name__ == "__main__":
    main()
