"""The stream of changes: pages that come and go do not disturb each other, and there are only so many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (`pip install 'symseed[studio]'`)")

import anyio

from studio_runs import make_run
from symseed.cli import run_names
from symseed.studio import watching
from symseed.studio.runs import Runs
from symseed.studio.stores import Stores
from symseed.studio.watching import Watch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watching") / "runs"
    make_run(folder)
    return folder


def of(folder: Path) -> Watch:
    return Watch(Runs(folder, run_names.newest_first), Stores(folder))


def test_pages_that_close_do_not_disturb_those_that_open(folder: Path) -> None:
    """A closed connection cancels its stream at any point, as starlette does: again and again until it has ended."""
    told = 0

    async def page(stream: AsyncIterator[str], scope: anyio.CancelScope) -> None:
        nonlocal told
        with scope:
            async for _ in stream:
                told += 1

    async def pages() -> None:
        watch = of(folder)
        async with anyio.create_task_group() as group:

            def opened() -> anyio.CancelScope:
                group.start_soon(page, watch.stream(""), scope := anyio.CancelScope())
                return scope

            scopes = [opened()]
            while not told:
                await asyncio.sleep(0.05)
            for steps in range(200):
                last, scopes = scopes, [opened() for _ in range(6)]
                for _ in range(steps % 5):
                    await asyncio.sleep(0)
                for scope in last:
                    scope.cancel()
            watch.is_over = True
            for scope in scopes:
                scope.cancel()

    asyncio.run(pages())
    assert told > 200


def test_every_page_hears_of_the_last_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_EVERY", 0.02)

    async def pages() -> list[list[str]]:
        watch = of(folder)
        heard: list[list[str]] = [[] for _ in range(20)]

        async def page(own: list[str]) -> None:
            async for text in watch.stream(""):
                own.append(text)

        tasks = [asyncio.create_task(page(own)) for own in heard]
        for change in range(10):
            (folder / f"{change}").mkdir()
            (folder / f"{change}" / "config.toml").write_text("")
            await asyncio.sleep(0.03)
        await asyncio.sleep(1.0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert watch.pages == 0
        return heard

    heard = asyncio.run(pages())
    assert len({own[-1] for own in heard}) == 1
    assert all(1 < len(own) <= 11 for own in heard)


def test_only_so_many_pages_listen_at_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.testclient import TestClient

    from symseed.studio import server

    monkeypatch.setattr(server, "MOST_PAGES", 0)
    app: Any = server.Studio.of(folder, run_names.newest_first, tmp_path).app()
    answer = TestClient(app).get("/api/events")
    assert (answer.status_code, answer.text) == (503, "At most 0 pages are open at once. Close one.")
