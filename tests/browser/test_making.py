"""Making a dataset in the browser: in words, with a table of attributes, and with JSON."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.conftest import HOSTILE, Place, sign_in


def drafted(page: Page, token: str) -> Locator:
    """The rows of the attributes that are drafted from the table of visits."""
    sign_in(page, token)
    page.goto("/console/#/datasets")
    page.locator("select[name=file]").select_option("visits.csv")
    page.get_by_role("button", name="Draft them from the table").click()
    rows = page.get_by_label("Attributes", exact=True).locator("tbody tr")
    expect(rows).to_have_count(4)
    return rows


def test_a_page_is_drawn_once_however_late_the_datasets_come(page: Page, place: Place) -> None:
    """Whoever goes on while signing in is not taken back, and loses nothing that was written."""
    held: list[Route] = []
    drawn: list[Request] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.on("request", lambda sent: drawn.append(sent) if "/files" in sent.url else None)
    page.route("**/api/v1/datasets", hold_the_first)
    page.goto("/")
    page.get_by_label("Token").fill(place.token)
    with page.expect_request("**/api/v1/datasets"):
        page.keyboard.press("Enter")
    page.goto("/console/#/datasets")
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    held[0].continue_()
    page.get_by_label("Name of the dataset").fill("visits")
    page.evaluate("new Promise((done) => setTimeout(done, 500))")  # for whatever else is drawn
    expect(page.get_by_label("Name of the dataset")).to_have_value("visits")
    assert len(drawn) == 1


def test_a_page_that_is_there_is_not_drawn_again_under_another_address(
    page: Page, place: Place
) -> None:
    """Without a dataset the first page is that of the datasets, whatever its address."""
    page.route("**/api/v1/datasets", lambda route: route.fulfill(json={"datasets": []}))
    sign_in(page, place.token)
    page.locator("select[name=file]").select_option("visits.csv")
    page.evaluate("location.hash = '#/datasets'")
    page.evaluate("new Promise((done) => setTimeout(done, 500))")  # for whatever else is drawn
    expect(page.locator("select[name=file]")).to_have_value("visits.csv")


def test_a_dataset_is_described_in_words(page: Page, place: Place) -> None:
    """Who is protected, the measure and the rules are chosen, not written."""
    rows = drafted(page, place.token)
    page.get_by_role("button", name="Remove patient").click()
    expect(rows).to_have_count(3)
    page.get_by_label("Name of the dataset").fill("visits")
    page.get_by_label("Everybody with all of their rows").check()
    expect(page.get_by_label("What somebody's row says")).to_be_disabled()
    page.get_by_label("Column with the id").fill("patient")
    page.get_by_label("Rows of each that count").fill("2")
    page.get_by_label("rho.").check()
    page.get_by_label("Limit (rho)").fill("0.4")
    expect(rows.nth(0).get_by_label("Name of the column")).to_have_value(HOSTILE)
    rows.nth(0).get_by_label("Missing values", exact=True).select_option("replace")
    rows.nth(0).get_by_label("Missing values: counted as").fill("'c'")
    rows.nth(1).get_by_label("Kind").select_option("binned")
    rows.nth(1).get_by_label("Edges of the bins").fill("40, 60, 80, oops")
    page.get_by_label("I have checked").check()
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_have_text("weight: every edge must be a number")
    rows.nth(1).get_by_label("Edges of the bins").fill("40, 60, 80")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("visits is made.")).to_be_visible()
    made = page.request.get("/api/v1/datasets/visits").json()
    assert made["unit"] == {"column": "patient", "rows": 2}
    assert (made["budget"]["measure"], made["budget"]["limit"]) == ("rho", 0.4)
    domain = page.request.get("/api/v1/datasets/visits/schema").json()["domain"]["attributes"]
    assert domain[HOSTILE]["null"] == {"replace": "'c'"}
    assert domain["weight"]["edges"] == [40, 60, 80]
    page.get_by_role("link", name="Budget").click()
    expect(page.get_by_text("Protected is each patient with up to 2 rows")).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("button", name=HOSTILE).click()
    expect(page.locator("#sql")).to_have_value(re.compile(re.escape(f'"{HOSTILE}"')))


def test_the_table_and_json_are_two_views_of_one_thing(page: Page, place: Place) -> None:
    rows = drafted(page, place.token)
    ward = rows.nth(3)
    ward.get_by_label("Kind").select_option("categorical")
    ward.get_by_label("Values, one on each line").fill('1\n"2"\n007\ntrue\na "b"\n')
    page.get_by_text("The same as JSON").click()
    text = page.get_by_label("Attributes as JSON")
    described = json.loads(text.input_value())
    assert described["attributes"]["ward"]["values"] == [1, "2", "007", True, 'a "b"']
    text.fill("{")
    expect(page.get_by_role("alert")).to_contain_text("cannot be read")
    described["attributes"] = {
        "__proto__": {"type": "boolean", "null": "drop", "outside": "drop"},
        "ward": {"type": "categorical", "values": [" a", "-1", '"q', 3, "d'e"]},
    }
    text.fill(json.dumps(described))
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(rows).to_have_count(2)
    values = rows.nth(1).get_by_label("Values, one on each line")
    expect(values).to_have_value('" a"\n"-1"\n"\\"q"\n3\nd\'e')
    rows.nth(1).get_by_label("Name of the column").fill("station")
    again = json.loads(text.input_value())["attributes"]
    assert list(again) == ["__proto__", "station"]
    assert again["station"]["values"] == [" a", "-1", '"q', 3, "d'e"]
    assert again["station"]["outside"] == "drop"


def test_public_functions_are_kept_and_listed(page: Page, place: Place) -> None:
    """Lookups and derived columns are written as JSON; who asks finds them in the schema."""
    drafted(page, place.token)
    page.get_by_text("The same as JSON").click()
    text = page.get_by_label("Attributes as JSON")
    described = {
        "attributes": {"ward": {"type": "integer", "low": 1, "high": 9}},
        "lookups": {"wards": {"keys": ["ward"], "columns": ["floor"], "rows": [[1, "up"]]}},
        "derived": {"odd ward": "ward % 2 = 1"},
    }
    text.fill(json.dumps(described))
    page.get_by_label("Name of the dataset").fill("wards")
    page.get_by_label("I have checked").check()
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("wards is made.")).to_be_visible()
    domain = page.request.get("/api/v1/datasets/wards/schema").json()["domain"]
    assert {key: domain[key] for key in ("lookups", "derived")} == {
        key: described[key] for key in ("lookups", "derived")
    }
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("button", name="wards", exact=True).click()
    expect(page.locator("#sql")).to_have_value(re.compile(r"JOIN wards USING \(ward\)"))
    expect(page.get_by_text("is ward % 2 = 1")).to_be_visible()
