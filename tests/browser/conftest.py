"""Chromium, and a server whose folder holds two tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from eke.service import Access, Account, Datasets, Settings, create_app
from tests.chromium import chromium
from tests.service import listening, people

# A crowded machine may take its time; no test depends on how long.
expect.set_options(timeout=60_000)
HOSTILE = "<img src=x onerror=alert(1)>"


class Place(NamedTuple):
    """Where the server is, and the token of its curator."""

    url: str
    token: str


def sign_in(page: Page, token: str, *, agrees: bool = True) -> None:
    """Sign in as somebody who agrees to whatever the console asks about."""
    if agrees:
        page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/")
    page.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def visits() -> pd.DataFrame:
    """Rows that share ids, under names that would like to be HTML."""
    rows = range(400)
    return pd.DataFrame(
        {
            "patient": [f"p{n // 4}" for n in rows],
            HOSTILE: ["<b>a</b>" if n % 2 else "'c'" for n in rows],
            "weight": [50 + n % 40 / 2 for n in rows],
            "ward": [str(1 + n % 3) for n in rows],
        }
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; closed before other modules run, for Playwright occupies the event loop."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("console")
    people().to_csv(folder / "people.csv", index=False)
    visits().to_csv(folder / "visits.csv", index=False)
    access = Access(folder / "access.db")
    access.add(Account("cleo", "curator"))
    settings = Settings(
        folder=folder, secure_cookies=False, requests_per_minute=100_000, answer_step=0.0
    )
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
