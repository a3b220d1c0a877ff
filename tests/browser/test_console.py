"""The console in a real browser: the whole story, then keyboard, widths and hostile labels."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.browser.conftest import Place, sign_in
from tests.parts import in_long
from tests.service import hold_publications

WIDE_CURVE = "#curve svg"
PAGES = (
    *("Ask", "Release", "Publications", "History", "Outside", "Budget", "Ledger", "Datasets"),
    "Analysts",
)


@pytest.fixture(scope="module")
def analyst(browser: Browser, place: Place) -> str:
    """The token of an analyst, made in the console by a curator who made the dataset before."""
    context = browser.new_context(base_url=place.url)
    page = context.new_page()
    sign_in(page, place.token)
    expect(page.get_by_role("heading", name="Datasets")).to_be_visible()  # there is none yet
    page.get_by_label("Name of the dataset").fill("people")
    page.get_by_role("button", name="Draft them from the table").click()
    domain = page.get_by_label("Attributes as JSON")
    expect(domain).to_have_value(re.compile("<script>"))
    rows = page.get_by_label("Attributes", exact=True).locator("tbody tr")
    age = rows.nth(1).get_by_label("Values that do not fit", exact=True)
    age.select_option("clamp")  # so that there is something to be said of answers
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#dataset")).not_to_have_value("people")  # the box is not ticked
    page.get_by_label("I have checked").check()
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#dataset")).to_have_value("people")
    page.get_by_role("link", name="Analysts").click()
    # The page before has a field of this name, too.
    expect(page.get_by_role("heading", name="Analysts and other accounts")).to_be_visible()
    page.get_by_label("Name").fill("ann")
    page.get_by_role("button", name="Add").click()
    shown = page.locator("#token")
    expect(shown).to_have_text(re.compile("eke_"))
    token = shown.inner_text()
    page.get_by_role("link", name="Budget").click()
    expect(page.get_by_role("heading", name="Analysts and other accounts")).to_have_count(0)
    page.get_by_role("link", name="Analysts").click()
    expect(page.get_by_role("heading", name="Analysts and other accounts")).to_be_visible()
    expect(page.locator("#token")).to_have_count(0)  # it is not shown again
    page.get_by_label("Who").select_option("ann")
    page.get_by_label("Cap (empty for none)").fill("0.2")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("row", name=re.compile("ann analyst"))).to_contain_text("0.2")
    context.close()
    return token


def test_an_analyst_previews_asks_asks_again_for_free_and_is_refused(
    page: Page, analyst: str
) -> None:
    sign_in(page, analyst)
    assert page.get_by_role("link", name="Analysts").count() == 0
    page.locator("#within").fill("40")
    price = page.locator("#price")
    expect(price).to_have_text(re.compile(r"Would cost epsilon 0\.0\d+ of 0\.2 that your cap"))
    expect(page.locator(WIDE_CURVE)).to_be_visible()
    page.get_by_role("button", name="Ask", exact=True).click()
    answers = page.locator(".answer")
    expect(answers).to_have_count(1)
    expect(answers.first).to_contain_text("paid epsilon")
    expect(answers.first.locator("svg .curve")).to_be_visible()
    expect(price).to_have_text(re.compile("Free: history gives ±40"))
    page.get_by_label("Claim, if there is one").fill("> 1")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(answers).to_have_count(2)
    expect(answers.first).to_contain_text("free")
    expect(answers.first).to_contain_text(
        re.compile(r"The claim > 1 holds with probability (1|more)")
    )
    page.get_by_label("Claim, if there is one").fill("> x")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(answers).to_have_count(3)
    expect(answers.first).to_contain_text("write a number plainly")
    page.get_by_label("Claim, if there is one").fill("")
    page.locator("#within").fill("1")
    expect(price).to_have_text(re.compile("your cap leaves you.*narrowest interval"))
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    page.get_by_role("link", name="History").click()
    expect(page.get_by_label("Measurements").get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name="Budget").click()
    expect(page.get_by_text("of your cap of 0.2")).to_be_visible()


def test_answers_last_and_can_be_taken_along(page: Page, analyst: str) -> None:
    """Who comes back finds what was asked, asks again for nothing, and has it as a file."""
    sign_in(page, analyst)
    sql = "SELECT city,\n  COUNT(*) AS n FROM people GROUP BY city"
    page.locator("#sql").fill(sql)
    page.locator("#within").fill("120")
    page.keyboard.press("Meta+Enter")  # at once, before the price was looked up
    expect(page.locator(".answer")).to_have_count(1)
    page.get_by_role("link", name="Budget").click()
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.locator("#sql")).to_have_value(sql)  # a look elsewhere loses nothing
    page.reload()
    page.get_by_role("link", name="History").click()
    line = page.get_by_label("Your answers").get_by_role("row", name=re.compile("SELECT city"))
    line.get_by_role("button", name="Show").click()
    card = page.locator(".answer")
    expect(card.get_by_role("cell", name="<script>alert(1)</script>")).to_be_visible()
    before = card.inner_text()
    line.get_by_role("button", name="Ask again").click()
    expect(card.locator(".tag")).to_have_text("free")
    assert card.get_by_role("table").inner_text() in before  # nothing came since
    for name, beginning in (("CSV", b"city,n,"), ("Parquet", b"PAR1"), ("PNG", b"\x89PNG")):
        with page.expect_download() as waiting:
            card.get_by_text(f"Download {name}").click()
        assert waiting.value.path().read_bytes().startswith(beginning)
    line.get_by_role("button", name="Edit").click()
    expect(page.locator("#within")).to_have_value("120")
    expect(page.locator("#price")).to_have_text(re.compile("Free"))
    page.get_by_label("Asked before").get_by_role("button").first.click()
    expect(page.locator("#sql")).to_be_focused()


def test_a_price_or_a_share_of_the_value_instead_of_a_half_width(
    page: Page, place: Place, analyst: str
) -> None:
    """No price is filled in; what it bought is asked again for nothing, not for the price again."""
    sign_in(page, place.token)
    page.locator("#sql").fill("SELECT COUNT(*) FROM people WHERE age < 40")
    page.get_by_label("How accurate").select_option("what a price buys")
    expect(page.locator("#slider")).to_be_hidden()
    expect(page.get_by_label("Cost at most")).to_have_value("")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    page.get_by_label("Cost at most").fill("0.03")
    expect(page.locator("#price")).to_have_text(re.compile(r"Would buy ±\d.* for epsilon 0\.0"))
    expect(page.locator(WIDE_CURVE)).to_have_count(0)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("of at most 0.03, which bought")
    page.get_by_role("link", name="History").click()
    line = page.get_by_label("Your answers").get_by_role("row", name=re.compile("age < 40"))
    expect(line).to_contain_text("for epsilon 0.03 at most: ±")
    line.get_by_role("button", name="Ask again").click()
    expect(page.locator(".answer .tag")).to_have_text("free")
    line.first.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("How accurate")).to_have_value("spend")
    expect(page.get_by_label("Cost at most")).to_have_value("0.03")
    page.get_by_label("How accurate").select_option("± a share of the value")
    page.get_by_label("% of the value").fill("90")
    expect(page.locator("#price")).to_have_text(re.compile("Free"))
    page.get_by_label("For groups of at least").fill("50")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("free")


def test_the_price_that_is_agreed_to_is_that_of_what_is_sent(
    page: Page, place: Place, analyst: str
) -> None:
    """Quick fingers change the accuracy and send it before its price is shown."""
    sign_in(page, place.token, agrees=False)
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.locator("#sql").fill("SELECT COUNT(*) FROM people WHERE age = 20")
    page.locator("#within").fill("100000")
    expect(page.locator("#price")).to_have_text(re.compile(r"Would cost epsilon 0\.0000"))
    page.locator("#within").fill("12")
    with page.expect_event("dialog"):
        page.keyboard.press("Control+Enter")
    expect(page.locator("#price")).to_have_text(re.compile(r"Would cost epsilon 0\.2"))
    assert re.match(r"This spends epsilon 0\.2\d+, \d+ % of what is left\.", asked[0])
    page.locator("#sql").fill("SELECT AVG(age) FROM people WHERE sex = 'Male'")
    page.locator("#within").fill("5")
    with page.expect_event("dialog"):
        page.keyboard.press("Control+Enter")
    assert asked[1].startswith("This is found out in steps. The next one spends epsilon 0.0")
    assert page.locator(".answer").count() == 0


def test_groups_are_drawn_with_error_bars_and_hostile_labels_stay_text(
    page: Page, analyst: str
) -> None:
    sign_in(page, analyst)
    page.locator("#sql").fill("SELECT city, COUNT(*) AS n FROM people GROUP BY city")
    page.locator("#within").fill("150")
    expect(page.locator("#price")).to_have_text(re.compile("Would cost|Free"))
    page.get_by_role("button", name="Ask", exact=True).click()
    drawn = page.locator(".answer").first
    expect(drawn.locator("svg .error-bar")).to_have_count(9)
    expect(drawn.get_by_role("cell", name="<script>alert(1)</script>")).to_be_visible()


def test_a_curator_releases_tables_and_sees_them_with_error_bars(
    page: Page, place: Place, analyst: str
) -> None:
    sign_in(page, place.token)
    page.get_by_role("link", name="Release", exact=True).click()
    plan = page.locator("#plan")
    page.locator("#amount").fill("5")
    expect(plan).to_have_text(re.compile("That is more than is left"))
    expect(page.get_by_role("button", name="Release", exact=True)).to_be_disabled()
    page.locator("#amount").fill("0.05")
    expect(plan).to_have_text(re.compile(r"3 tables with 15 counts for epsilon 0\.05 of"))
    page.get_by_text("The error of each table").click()
    expect(page.get_by_role("row", name=re.compile("^city 3"))).to_be_visible()
    page.get_by_role("button", name="Release", exact=True).click()
    card = page.get_by_label("Release", exact=True)
    expect(card).to_contain_text("paid epsilon 0.05 by cleo")
    expect(card.locator(".caveat")).to_have_text([re.compile("^Undeclared values of age count")])
    expect(card.locator("svg .error-bar")).to_have_count(3 * 15)
    expect(card.get_by_role("cell", name="<script>alert(1)</script>")).to_be_visible()
    with page.expect_download() as waiting:
        card.get_by_role("link", name="Download CSV").first.click()
    text = waiting.value.path().read_text()
    assert text.splitlines()[0] == "sex,value,standard_error"
    card.get_by_label("Show counts").select_option("whole")
    expect(card).to_contain_text("one table of whole counts")
    card.get_by_label("Nearest in").select_option("l1")
    expect(card.locator("svg .error-bar")).to_have_count(3 * 15)
    with page.expect_download() as waiting:
        card.get_by_role("link", name="Download CSV").first.click()
    counts = [line.split(",")[1] for line in waiting.value.path().read_text().splitlines()[1:]]
    assert all(float(count) == int(float(count)) >= 0 for count in counts)
    card.get_by_label("Show counts").select_option("")
    expect(card).to_contain_text("noise is left as it is")
    page.reload()
    page.get_by_role("button", name=re.compile("^Show")).first.click()
    expect(page.get_by_label("Release", exact=True)).to_contain_text("every table by 1")


def test_advice_is_put_into_the_form_and_a_strategy_is_chosen(
    page: Page, place: Place, analyst: str
) -> None:
    """What somebody paid for is advised on; nobody is charged before the form is sent."""
    sign_in(page, analyst)
    by_city = "SELECT COUNT(*) FROM people WHERE city = 'd'"
    page.get_by_label("Question in SQL").fill(by_city)
    page.locator("#within").fill("70")
    page.get_by_label("What to buy").select_option("direct")
    expect(page.locator("#price")).to_have_text(re.compile("Would cost epsilon"))
    expect(page.locator(WIDE_CURVE)).to_have_count(0)  # that is of the dataset's own policy
    with page.expect_request(lambda sent: sent.url.endswith("/ask")) as asked:
        page.get_by_role("button", name="Ask", exact=True).click()
    assert '"policy":"direct"' in (asked.value.post_data or "")
    expect(page.locator(".answer")).to_have_count(1)
    page.get_by_role("link", name="Release", exact=True).click()
    expect(page.locator("#plan")).to_be_visible()
    expect(page.get_by_role("heading", name="Worth releasing")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, place.token)
    page.get_by_role("link", name="Release", exact=True).click()
    page.get_by_role("button", name="Plan a release by city").click()
    expect(page.locator("#plan")).to_have_text(re.compile(r"1 table with 3 counts for epsilon"))
    assert page.locator("input[name=attribute]:checked").evaluate_all(
        "boxes => boxes.map((box) => box.value)"
    ) == ["city"]
    with page.expect_response(lambda back: back.url.endswith("/plans")) as planned:
        page.get_by_label("Strategy").select_option("C")
    assert planned.value.json()["strategy"].startswith("C")
    page.locator("select[name=kind]").select_option("all_marginals")
    expect(page.get_by_label("Strategy")).to_have_value("auto")


def test_history_is_asked_for_an_estimate_in_three_ways(page: Page, analyst: str) -> None:
    """It costs nothing, and what cannot be estimated says why."""
    sign_in(page, analyst)
    by_city = "SELECT city, COUNT(*) FROM people GROUP BY city"
    page.get_by_label("Question in SQL").fill(by_city)
    page.locator("#within").fill("70")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".answer")).to_have_count(1)
    page.get_by_label("Question in SQL").fill("SELECT COUNT(*) FROM people WHERE city = 'd'")
    with page.expect_response(lambda back: back.url.endswith("/estimate")) as sent:
        page.get_by_role("button", name="Estimate for free").click()
    card = page.get_by_label("Estimate", exact=True)
    expect(card.locator("svg.chart")).to_have_count(1)
    expect(card.locator(".value")).not_to_be_empty()
    assert sent.value.json()["method"] == "shrinkage"
    card.get_by_label("Estimated").select_option("max_entropy")
    expect(card).to_contain_text("without an interval")
    expect(card.locator("svg.chart")).to_have_count(0)
    with page.expect_response(lambda back: back.url.endswith("/estimate")) as sent:
        card.get_by_label("Beginning with").select_option("uniform")
    assert sent.value.json()["kind"] == "number"
    assert '"prior":"uniform"' in (sent.value.request.post_data or "")
    card.get_by_label("Estimated").select_option("blue")
    expect(card.get_by_label("Beginning with")).to_be_hidden()
    expect(card).to_contain_text("History determines it")
    card.get_by_label("Confidence").select_option("0.5")
    expect(card).to_contain_text("with probability 0.5")
    page.get_by_label("Question in SQL").fill(by_city)
    page.get_by_role("button", name="Estimate for free").click()
    expect(page.get_by_label("Estimate", exact=True).first.locator("svg .error-bar")).to_have_count(
        3 * 3
    )
    page.get_by_label("Question in SQL").fill("SELECT MEDIAN(age) FROM people")
    page.get_by_role("button", name="Estimate for free").click()
    expect(page.get_by_label("Estimate", exact=True).first.get_by_role("alert")).to_be_visible()


def test_a_curator_registers_a_fact_that_answers_and_forgets_it(
    page: Page, place: Place, analyst: str
) -> None:
    sign_in(page, place.token)
    page.get_by_role("link", name="Outside", exact=True).click()
    expect(page.get_by_text("Nothing was registered yet.")).to_be_visible()
    form = page.locator("form")
    sql = "SELECT COUNT(*) FROM people WHERE age = 19 AND sex = 'Female'"
    form.get_by_label("Question, a count or a sum").fill(sql)
    form.get_by_label("Its value").fill("a few")
    form.get_by_label("Where everybody can look it up").fill("Yearbook <b>2025</b>")
    form.get_by_role("button", name="Register").click()
    expect(form.get_by_role("alert")).to_be_visible()  # that is no number; nothing typed is lost
    form.get_by_label("Its value").fill("7")
    form.get_by_role("button", name="Register").click()
    row = page.get_by_role("row", name=re.compile("public fact"))
    expect(row).to_contain_text("Yearbook <b>2025</b>")
    form.get_by_label("Question, a count or a sum").fill(sql.replace("19", "20"))
    form.get_by_label("Its value").fill("9")
    expect(form.get_by_label("Scale or variance")).to_be_hidden()
    form.get_by_label("Noise in it").select_option("noise_variance")
    form.get_by_label("Scale or variance").fill("4")
    form.get_by_label("Where everybody can look it up").fill("Office, June")
    form.get_by_role("button", name="Register").click()
    noisy = page.get_by_role("row", name=re.compile("published with noise"))
    expect(noisy).to_contain_text("standard deviation 2")
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_label("Question in SQL").fill(sql)
    expect(page.locator("#price")).to_have_text("Free: history gives ±0.")
    page.get_by_role("link", name="Outside", exact=True).click()
    for one in (row, noisy):
        one.get_by_role("button").click()
        expect(one.get_by_role("button")).to_have_text("Really forget?")
        one.get_by_role("button").click()
        expect(one).to_have_count(0)
    expect(page.get_by_text("Nothing was registered yet.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, analyst)
    page.get_by_role("link", name="Outside", exact=True).click()
    expect(page.get_by_text("Nothing was registered yet.")).to_be_visible()
    expect(page.locator("form")).to_have_count(0)


def test_a_curator_publishes_rows_and_watches(page: Page, place: Place, analyst: str) -> None:
    sign_in(page, place.token)
    page.get_by_role("link", name="Publications").click()
    expect(page.get_by_role("heading", name="Publish rows")).to_be_visible()
    price = page.locator("#price")
    page.get_by_label("Spend at most").fill("0.1")
    page.get_by_label("How").select_option("pca")
    expect(price).to_have_text(re.compile("replace_one"))
    expect(page.get_by_role("button", name="Publish")).to_be_disabled()
    page.get_by_label("How").select_option("lda")
    page.get_by_label("Spend at most").fill("0.1")
    expect(price).to_have_text(re.compile(r"Costs up to epsilon 0\.(1|0999\d*) of"))
    page.get_by_label("Class attribute").select_option("sex")
    page.get_by_role("button", name="Publish").click()
    shown = page.get_by_role("button", name=re.compile("^Show"))
    expect(shown).to_have_count(1)
    shown.click()
    card = page.get_by_label("Publication", exact=True)
    expect(card).to_contain_text(re.compile(r"rows by LDA"))
    expect(card.locator(".caveat")).to_have_text([re.compile("^Undeclared values of age count")])
    expect(card.locator("svg .bar")).not_to_have_count(0)
    card.get_by_text("The whole report").click()
    report = card.frame_locator("iframe")
    expect(report.get_by_role("heading", name="Columns together")).to_be_visible()
    expect(report.get_by_text("<script>alert(1)</script>").first).to_be_visible()
    with page.context.expect_page() as opened:
        card.get_by_role("link", name="Report", exact=True).click()
    expect(opened.value.get_by_role("heading", name="Columns together")).to_be_visible()
    opened.value.close()
    card.get_by_label("Question in SQL").fill("SELECT COUNT(*) FROM people WHERE sex = 'Male'")
    card.get_by_role("button", name="Ask the rows").click()
    expect(card).to_contain_text(re.compile(r"without an interval: the receipt of these rows"))
    card.get_by_label("Question in SQL").fill("SELECT nothing")
    card.get_by_role("button", name="Ask the rows").click()
    expect(card.get_by_role("alert")).to_be_visible()
    with page.expect_download() as waiting:
        card.get_by_role("link", name="Download CSV").click()
    assert waiting.value.path().read_text().startswith("sex,age,city\n")
    assert waiting.value.suggested_filename.endswith(".csv")


def test_nothing_is_prefilled_and_spending_much_is_asked_about(
    page: Page, place: Place, analyst: str
) -> None:
    """One click spends nothing by itself; who says no to the question has spent nothing."""
    sign_in(page, place.token, agrees=False)
    page.get_by_role("link", name="Release", exact=True).click()
    expect(page.locator("#plan")).to_have_text(
        "Say how much to spend, or how far counts may be off."
    )
    expect(page.get_by_role("button", name="Release", exact=True)).to_be_disabled()
    page.get_by_role("link", name="Publications").click()
    price = page.locator("#price")
    expect(price).to_have_text(re.compile("Say how much it may spend; epsilon"))
    expect(page.get_by_role("button", name="Publish")).to_be_disabled()
    page.get_by_label("Spend at most").fill("0.5")
    expect(price).to_have_text(re.compile(r"Costs up to epsilon 0\.\d+ of"))
    left = price.inner_text().split(" of ")[1].split(" left")[0]
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    with page.expect_event("dialog"):
        page.get_by_role("button", name="Publish").click()
    assert re.fullmatch(
        r"This spends epsilon 0\.\d+, \d+ % of what is left\. It cannot be undone\. Spend it\?",
        asked[0],
    )
    page.reload()
    expect(price).to_contain_text(f"{left} is left")


def test_a_job_shows_its_progress_and_can_be_taken_back(
    page: Page, place: Place, analyst: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave = hold_publications(monkeypatch)
    sign_in(page, place.token)
    page.get_by_role("link", name="Publications").click()
    expect(page.get_by_role("heading", name="Publish rows")).to_be_visible()
    page.get_by_label("How").select_option("lda")
    page.get_by_label("Spend at most").fill("0.01")
    for number in (1, 2):
        page.get_by_role("button", name="Publish").click()
        expect(page.get_by_role("progressbar")).to_have_count(number)
    expect(page.get_by_text("checking, 0 %")).to_be_visible()
    page.get_by_role("button", name="Take it back").first.click()
    expect(page.locator(".job", has_text="cancelled")).to_have_count(1)
    leave.set()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.locator(".job", has_text="cancelled").get_by_role("button", name="Go on with it").click()
    expect(page.locator(".job")).to_have_count(0)


def test_mistakes_are_shown_where_they_are(page: Page, analyst: str) -> None:
    sign_in(page, analyst)
    page.locator("#sql").fill("SELECT COUNT(*) FROM people WHERE agee > 40")
    expect(page.locator("#price")).to_have_text(
        "Line 1, column 35: there is no column 'agee'; did you mean 'age'?"
    )


def test_it_works_with_the_keyboard_alone(page: Page, analyst: str) -> None:
    sign_in(page, analyst)
    page.goto("/console/#/ask")
    page.reload()
    expect(page.locator("#price")).to_have_class(re.compile("free|paid"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.locator("#sql:focus").count():
            break
    expect(page.locator("#sql")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".answer")).to_have_count(1)
    page.locator("#slider").focus()
    before = page.locator("#within").input_value()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#within")).not_to_have_value(before)


@pytest.mark.parametrize("scheme", ["light", in_long("dark")])
def test_narrow_and_wide_pages_do_not_scroll_sideways(
    page: Page, place: Place, analyst: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    sign_in(page, place.token)
    for width in (360, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        for name in PAGES:
            page.get_by_role("link", name=name, exact=True).click()
            expect(page.locator("main h1").first).to_be_visible()
            if name == "Datasets":
                page.get_by_role("button", name="Draft them from the table").click()
                expect(page.get_by_label("Attributes", exact=True)).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_the_colours_are_those_of_the_system(page: Page) -> None:
    page.goto("/")
    for scheme in ("light", "dark", "light"):
        page.emulate_media(color_scheme=scheme)
        back = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (back == "rgb(20, 23, 26)") == (scheme == "dark")


def test_signing_out_ends_it(page: Page, analyst: str) -> None:
    sign_in(page, analyst)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.goto("/console/#/budget")
    page.reload()
    expect(page.get_by_label("Token")).to_be_focused()
    page.get_by_label("Token").fill("eke_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("this token is not valid (any more)")
