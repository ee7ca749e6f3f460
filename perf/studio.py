"""What Studio costs: the first paint of its page, the memory of many pages, and what an open page takes from a search.

python perf/studio.py paint [--loads 10]             # needs playwright and a Chromium (`--group browser`)
python perf/studio.py pages [--pages 50] [--minutes 10]
python perf/studio.py search [--repeats 5] [--expressions 100000]

`pages` keeps pages open on one run that is searching; each asks for the run whenever it is told that it changed, as the
page does. `search` counts the CPU seconds of a search in one thread, alone and with an open page in turns, and those of
the server. Everything is on the loopback device.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
import psutil

SYMSEED = [sys.executable, "-m", "symseed"]
TABLE, TARGET = "diabetes", "progression"


class Server:
    """A server of Studio in a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [*SYMSEED, "studio", str(folder), "--no-browser", "--port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.link = self._process.stdout.readline().removeprefix("The page is at ").strip()
        self.address = self.link.partition("/?")[0]
        self._seen = psutil.Process(self._process.pid)

    def __enter__(self) -> Server:
        """Serve."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End."""
        self._process.terminate()
        self._process.wait()

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        times = self._seen.cpu_times()
        return float(times.user + times.system)

    @property
    def megabytes(self) -> float:
        """Memory that it holds."""
        return float(self._seen.memory_info().rss) / 2**20


def search(folder: Path, *settings: str) -> subprocess.Popen[bytes]:
    """Begin a search."""
    command = [*SYMSEED, "fit", TABLE, "-y", TARGET, "--output-directory", str(folder), "--json"]
    options = [part for setting in settings for part in ("--set", setting)]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)


async def run_of(client: httpx2.AsyncClient) -> str:
    """Return the path of the newest run, as soon as there is one."""
    while True:
        runs = (await client.get("/api/runs")).json()
        if runs:
            return str(runs[0]["id"])
        await asyncio.sleep(0.1)


async def page(client: httpx2.AsyncClient, run: str, told: list[str]) -> None:
    """Do what an open page does, until it is cancelled; `told` receives the versions that it heard of."""
    async with client.stream("GET", "/api/events", params={"run": run}) as stream:
        async for line in stream.aiter_lines():
            if not line.startswith("data: "):
                continue
            told.append(json.loads(line.removeprefix("data: "))["run"])
            values = (await client.get(f"/api/runs/{run}")).json()
            if values["targets"] and values["targets"][0]["front"]:
                asked = {"target": 0, "index": values["targets"][0]["chosen"]}
                await client.get(f"/api/runs/{run}/formula", params=asked)


def opened(server: Server, most: int) -> httpx2.AsyncClient:
    """Return a client with room for so many pages."""
    limits = httpx2.Limits(max_connections=2 * most + 10)
    return httpx2.AsyncClient(base_url=server.address, limits=limits, timeout=120, headers={"origin": server.address})


async def pages(count: int, minutes: float) -> None:
    """Print the memory of the server before and after, and whether every page heard of the last change."""
    with tempfile.TemporaryDirectory() as name, Server(Path(name)) as server:
        working = search(Path(name), f"max_time={60 * minutes + 60}", "max_evals=none", "patience=none", "n_jobs=1")
        async with opened(server, count) as client:
            await client.get(server.link)
            run = await run_of(client)
            heard: list[list[str]] = [[] for _ in range(count)]
            tasks = [asyncio.create_task(page(client, run, told)) for told in heard]
            await asyncio.sleep(20)
            before, cpu, began = server.megabytes, server.cpu, time.monotonic()
            while time.monotonic() < began + 60 * minutes:
                await asyncio.sleep(10)
                print(f"{time.monotonic() - began:6.0f} s  {server.megabytes:6.1f} MB", flush=True)
            share = (server.cpu - cpu) / (time.monotonic() - began)
            after = server.megabytes
            await client.post(f"/api/runs/{run}/stop", json={})
            working.wait()
            await asyncio.sleep(5)
            last = {told[-1] for told in heard}
            current = (await client.get(f"/api/runs/{run}")).json()["version"]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    changes = statistics.median(map(len, heard))
    print(f"{count} pages, {minutes:g} minutes: from {before:.1f} to {after:.1f} MB, {share:.1%} of a core")
    print(f"changes told to a page: {changes:.0f}; all pages know the last state: {last == {current}}")


async def compared(repeats: int, expressions: int) -> None:
    """Print CPU seconds of a search alone and with an open page."""
    alone: list[float] = []
    watched: list[float] = []
    shares: list[float] = []
    settings = (f"max_evals={expressions}", "max_time=none", "patience=none", "n_jobs=1")
    for repeat in range(repeats):
        for is_watched in (False, True) if repeat % 2 else (True, False):
            with tempfile.TemporaryDirectory() as name, Server(Path(name)) as server:
                before = os.times()
                async with opened(server, 1) as client:
                    await client.get(server.link)
                    cpu, began = server.cpu, time.monotonic()
                    working = search(Path(name), *settings)
                    task = asyncio.create_task(page(client, await run_of(client), [])) if is_watched else None
                    await asyncio.to_thread(working.wait)
                    after = os.times()  # the server is not counted yet, because nobody has waited for it
                    if task is not None:
                        shares.append((server.cpu - cpu) / (time.monotonic() - began))
                        task.cancel()
                        await asyncio.gather(task, return_exceptions=True)
            (watched if is_watched else alone).append(
                after.children_user + after.children_system - before.children_user - before.children_system
            )
    print(f"{expressions:,} expressions of {TABLE}, one thread, {repeats} times each, CPU seconds of the search:")
    for called, values in (("alone", alone), ("with an open page", watched)):
        print(
            f"  {called:18} median {statistics.median(values):.2f}  of {', '.join(f'{v:.2f}' for v in sorted(values))}"
        )
    ratio = statistics.median(watched) / statistics.median(alone) - 1.0
    print(f"  slower by {ratio:+.1%}; the server takes {statistics.median(shares):.1%} of one core meanwhile")


def paint(loads: int) -> None:
    """Print the milliseconds from asking for the page to its first contentful paint, and to its first formula."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("SYMSEED_BROWSER") or shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory() as name:
        search(Path(name), "max_evals=10000", "max_time=none").wait()
        with Server(Path(name)) as server, sync_playwright() as play:
            opened_browser = play.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
            first: list[float] = []
            formula: list[float] = []
            for _ in range(loads):
                context = opened_browser.new_context()
                view: Any = context.new_page()
                view.goto(server.link)
                view.locator("nav a").first.wait_for()
                script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
                first.append(view.evaluate(script))
                address = f"{server.address}/{view.locator('nav a').first.get_attribute('href')}"
                view.goto("about:blank")
                began = time.perf_counter()
                view.goto(address)
                view.locator(".formula math").first.wait_for()
                formula.append(1000 * (time.perf_counter() - began))
                context.close()
            opened_browser.close()
    for called, values in (("first paint", first), ("formula of a run", formula)):
        print(f"{called}: median {statistics.median(values):.0f} ms, largest {max(values):.0f} ms of {loads}")


def main() -> None:
    """Measure one of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["paint", "pages", "search"])
    parser.add_argument("--loads", type=int, default=10)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--expressions", type=int, default=100_000)
    given = parser.parse_args()
    if given.part == "paint":
        paint(given.loads)
    elif given.part == "pages":
        asyncio.run(pages(given.pages, given.minutes))
    else:
        asyncio.run(compared(given.repeats, given.expressions))


if __name__ == "__main__":
    main()
