"""Making a dataset of a view in the browser: its SELECT, its tables, and what it would protect."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, Request, expect

from eke.service import Access, Account, Datasets, Settings, create_app
from tests.browser.conftest import Place, sign_in
from tests.service import listening

SQL = """SELECT v.patient, CAST(v.cost AS INTEGER) AS cost, p.sex, w.floor
FROM visits v JOIN patients p USING (patient) LEFT JOIN wards w ON v.ward = w.ward"""
PROTECTED = (
    "Protected: all rows of visits and patients that belong to one patient. "
    "What stands in wards is not protected: it is taken for public."
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server whose folder holds visits, patients and wards."""
    folder = tmp_path_factory.mktemp("views")
    visits = {
        "patient": [f"p{n // 4}" for n in range(400)],
        "ward": [str(1 + n % 3) for n in range(400)],
        "cost": [50 + n % 40 for n in range(400)],
    }
    pd.DataFrame(visits).to_csv(folder / "visits.csv", index=False)
    patients = {"patient": [f"p{n}" for n in range(100)], "sex": ["F", "M"] * 50}
    pd.DataFrame(patients).to_csv(folder / "patients.csv", index=False)
    wards = {"ward": ["1", "2", "3"], "floor": ["up", "up", "down"]}
    pd.DataFrame(wards).to_csv(folder / "hospital wards.csv", index=False)
    access = Access(folder / "access.db")
    access.add(Account("cleo", "curator"))
    settings = Settings(
        folder=folder, secure_cookies=False, requests_per_minute=100_000, answer_step=0.0
    )
    with listening(create_app(Datasets(), access, settings)) as url:
        yield Place(url, access.new_token("cleo").text)
    access.close()


def begun(page: Page, token: str) -> Locator:
    """The form with the SELECT and its three tables; the box with what it protects."""
    sign_in(page, token)
    page.goto("/console/#/datasets")
    page.get_by_label("A view.").check()
    tables = page.get_by_role("group", name="Tables of the view")
    expect(tables.get_by_role("button", name="Remove")).to_be_disabled()  # it needs one
    tables.get_by_label("File of this table").select_option("visits.csv")
    expect(tables.get_by_label("Name in the SELECT")).to_have_value("visits")
    page.get_by_role("button", name="Add a table").click()
    page.get_by_role("button", name="Add a table").click()
    third = tables.locator(".named").filter(has_text="Remove").nth(1)
    expect(third.get_by_label("File of this table")).to_have_value("hospital wards.csv")
    third.get_by_label("Name in the SELECT").fill("wards")
    page.get_by_label("SELECT of the view").fill(SQL)
    return page.locator("#promise")


def test_a_dataset_of_a_view_is_made_and_asked(page: Page, place: Place) -> None:
    promise = begun(page, place.token)
    expect(promise).to_have_text(
        "Protected: one row of visits, which makes at most one row of the view. "
        "What stands in wards and patients is not protected: it is taken for public."
    )
    page.get_by_label("Everybody with all of their rows").check()
    expect(promise).to_contain_text("Name the column with the id")
    page.get_by_label("Column with the id").fill("patient")
    page.get_by_label("Rows of each that count").fill("4")
    expect(promise).to_have_text(PROTECTED)
    page.get_by_role("button", name="Draft them").click()
    rows = page.get_by_label("Attributes", exact=True).locator("tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_role("button", name="Remove patient").click()
    page.get_by_label("Name of the dataset").fill("costs")
    page.get_by_label("I have checked").check()
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("costs is made.")).to_be_visible()
    asked = {"sql": "SELECT COUNT(*) FROM costs WHERE floor = 'up'", "within": 60}
    answer = page.request.post(
        "/api/v1/datasets/costs/ask",
        data=asked,
        headers={"Authorization": f"Bearer {place.token}"},
    )
    assert abs(answer.json()["value"] - 267) < 200
    made = page.request.get("/api/v1/datasets/costs").json()
    assert made["unit"] == {"column": "patient", "rows": 4}


def test_what_is_wrong_is_said_in_place_and_nothing_is_lost(page: Page, place: Place) -> None:
    promise = begun(page, place.token)
    sql = page.get_by_label("SELECT of the view")
    source = page.get_by_role("group", name="What it is made of")
    expect(promise).to_contain_text("Protected: one row of visits")
    sql.fill(SQL.replace("LEFT JOIN", "CROSS JOIN"))  # beside the SELECT, with its place
    expect(source.get_by_role("alert")).to_contain_text("Line 2, column")
    expect(promise).not_to_contain_text("Protected")
    sql.fill(SQL)
    expect(promise).to_contain_text("Protected: one row of visits")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("What somebody's row says").check()  # where it is decided
    expect(promise).to_contain_text("replace_one makes the number of rows public")
    page.get_by_label("Name of the dataset").fill("refused")
    page.get_by_role("button", name="Draft them").click()
    rows = page.get_by_label("Attributes", exact=True).locator("tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_label("I have checked").check()
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be said yet")
    page.get_by_label("Whether somebody is in the table").check()
    expect(promise).to_contain_text("Protected: one row of visits")
    sql.fill(SQL.replace("v.cost", "v.price"))  # which only the files can tell
    expect(promise).to_contain_text("Protected")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_contain_text("has no column 'price'")
    page.get_by_label("A table.").check()  # and what is written is kept meanwhile
    expect(page.locator("#promise")).to_be_hidden()
    page.get_by_label("A view.").check()
    expect(sql).to_have_value(SQL.replace("v.cost", "v.price"))
    expect(rows).to_have_count(4)
    names = page.get_by_label("Name in the SELECT")
    assert [names.nth(n).input_value() for n in range(3)] == ["visits", "wards", "patients"]
    assert page.request.get("/api/v1/datasets/refused").status == 404


def test_nothing_is_made_before_its_promise_was_read(page: Page, place: Place) -> None:
    """What is sent in the same moment as it is changed is told first, and made the next time."""
    promise = begun(page, place.token)
    page.get_by_label("Name of the dataset").fill("read")
    page.get_by_role("button", name="Draft them").click()
    rows = page.get_by_label("Attributes", exact=True).locator("tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_label("I have checked").check()
    expect(promise).to_contain_text("one row of visits")
    names = page.get_by_label("Name in the SELECT")
    names.nth(0).fill("stays")
    page.get_by_label("SELECT of the view").fill(SQL.replace("FROM visits v", "FROM stays v"))
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("has changed meanwhile")
    expect(promise).to_contain_text("one row of stays")
    names.nth(1).fill("patients")  # twice
    expect(promise).to_contain_text("two tables of the view are called patients")
    names.nth(1).fill("wards")
    expect(promise).to_contain_text("one row of stays")
    sent: list[Request] = []
    page.on("request", lambda one: sent.append(one) if one.url.endswith("/datasets") else None)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("read is made.")).to_be_visible()
    posted = next(one for one in sent if one.method == "POST")
    assert json.loads(posted.post_data or "")["view"]["tables"] == {
        "stays": "visits.csv",
        "wards": "hospital wards.csv",
        "patients": "patients.csv",
    }
