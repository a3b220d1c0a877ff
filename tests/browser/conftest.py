"""Chromium, and a server whose folder holds one table."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from eke.service import Access, Account, Datasets, Settings, create_app
from tests.service import listening, people

# A crowded machine may take its time; no test depends on how long.
expect.set_options(timeout=60_000)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Place(NamedTuple):
    """Where the server is, and the token of its curator."""

    url: str
    token: str


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; closed before other modules run, for Playwright occupies the event loop."""
    installed = next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        if installed is None and not Path(playwright.chromium.executable_path).exists():
            pytest.fail("the console is tested in Chromium: run `make browser`, as root if need be")
        # Chromium's sandbox does not work for root; elsewhere it stays on.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=installed, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("console")
    people().to_csv(folder / "people.csv", index=False)
    access = Access(folder / "access.db")
    access.add(Account("cleo", "curator"))
    settings = Settings(folder=folder, secure_cookies=False, requests_per_minute=100_000)
    with listening(create_app(Datasets(), access, settings)) as url:
        yield Place(url, access.new_token("cleo").text)
    access.close()


@pytest.fixture
def page(browser: Browser, place: Place) -> Iterator[Page]:
    """A page that fails the test on a script error, a CSP violation or a load from elsewhere."""
    context = browser.new_context(base_url=place.url)
    opened = context.new_page()
    trouble: list[str] = []

    def heard(line: ConsoleMessage) -> None:
        # Asking who is signed in, and being refused, is no trouble.
        if line.type == "error" and "status of 4" not in line.text:
            trouble.append(line.text)

    def loaded(sent: Request) -> None:
        if not sent.url.startswith(place.url):
            trouble.append(sent.url)

    opened.on("pageerror", lambda problem: trouble.append(str(problem)))
    opened.on("console", heard)
    opened.on("request", loaded)
    yield opened
    context.close()
    assert trouble == []
