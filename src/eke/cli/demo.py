"""The demonstration: an afternoon of questions to the Adult table by three analysts."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path
from typing import Any

from rich.console import Console

import eke
from eke.query import Expression, MarginalExpression

ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours",
    "native_country",
    "income",
)


def adult_domain() -> eke.Domain:
    """The public description of the Adult table, as a curator would declare it."""
    return eke.Domain(
        age=eke.Integer(17, 90),
        education_num=eke.Integer(1, 16),
        marital_status=eke.Categorical(
            "Divorced",
            "Married-AF-spouse",
            "Married-civ-spouse",
            "Married-spouse-absent",
            "Never-married",
            "Separated",
            "Widowed",
        ),
        race=eke.Categorical("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
        sex=eke.Categorical("Female", "Male"),
        hours=eke.Binned([0, 20, 35, 40, 41, 60, 100]),
        income=eke.Categorical("<=50K", ">50K"),
    )


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """One question of the afternoon."""

    analyst: str
    query: Expression | MarginalExpression
    within: float


AFTERNOON = (
    DemoQuestion("ana", eke.count(), 150),
    DemoQuestion("ana", eke.count(age=(30, 40), sex="Female"), 60),
    DemoQuestion("ben", eke.count(sex="Female"), 120),
    DemoQuestion("ben", eke.count(sex="Male"), 250),
    DemoQuestion("chloé", eke.marginal("sex", "income"), 90),
    DemoQuestion("ana", eke.count(income=">50K"), 150),
    DemoQuestion("ben", eke.count(sex="Female", income=">50K"), 95),
    DemoQuestion("chloé", eke.total("hours", where={"sex": "Female"}), 40_000),
    DemoQuestion("chloé", eke.count(age=(17, 29)), 100),
    DemoQuestion("ana", eke.count(age=(30, 90)), 200),
    DemoQuestion("ben", eke.count(age=(30, 40), sex="Female"), 40),
    DemoQuestion("chloé", 2000 * eke.count(income=">50K") - 10_000, 320_000),
)


def adult_file() -> Path:
    """Where the Adult table is: what a wheel installed, or the data folder of the checkout."""
    installed = [
        Path(str(path.locate())) for path in files("eke") or () if path.name == "adult.data.gz"
    ]
    folders = (*Path(__file__).resolve().parents, Path.cwd())
    for candidate in (*installed, *(folder / "data" / "adult.data.gz" for folder in folders)):
        if candidate.is_file():
            return candidate
    raise eke.EkeError(
        "the Adult table (adult.data.gz), which a wheel of eke brings along, is missing; "
        "install eke again, or run this in a checkout of the project"
    )


def run_demo(folder: Path | None, console: Console) -> dict[str, Any]:
    """Protect Adult, ask, repeat, be refused, test a claim, write a report; where it all is."""
    target = folder or Path(tempfile.mkdtemp(prefix="eke-demo-"))
    target.mkdir(parents=True, exist_ok=True)
    dataset = target / "adult.eke"
    dataset.unlink(missing_ok=True)
    console.print("[bold]A curator protects the Adult table[/] (32,561 people) with epsilon 1:")
    table = eke.CsvFile(adult_file(), columns=ADULT_COLUMNS, null="?", strip=True)
    session = eke.create(dataset, data=table, domain=adult_domain(), epsilon=1.0)
    console.print(f"  {session!r}\n")

    console.print("[bold]Three analysts ask, each with the accuracy they need:[/]")
    answers: list[eke.Answer] = []
    for asked in AFTERNOON:
        answer = session.ask(asked.query, asked.within, analyst=asked.analyst)
        answers.append(answer)
        console.print(_lines(asked, answer, session.budget.remaining), highlight=False)
    console.print(
        "  (Paid at cost 0.0000: the people it touches had lost less than the most exposed ones,\n"
        "  whose loss is what counts.)",
        style="dim",
    )
    both = answers[1].cost + answers[10].cost
    console.print(
        f"  (Ben's ±40 refines Ana's ±60: together they cost {both:.4f}, as much as ±40 at once.)",
        style="dim",
    )

    first = AFTERNOON[1]
    again = session.ask(first.query, first.within, analyst="ben")
    console.print(
        f"\n[bold]Ben repeats Ana's question[/] ({again.receipt.question}):\n"
        f"  {again.explain().splitlines()[1]} {again.receipt.sentence()}"
    )

    console.print("\n[bold]Ana wants women of 30 to 40 to ±1 at confidence 0.99:[/]")
    try:
        session.ask(first.query, within=1, confidence=0.99, analyst="ana")
    except eke.Refused as refusal:
        console.print(f"  refused: {refusal}", highlight=False)

    women = answers[2]
    claim = women.probability(above=10_750)
    console.print(
        "\n[bold]A claim:[/] more than 10,750 of them are women. "
        f"Probability, from what was released: {claim:.3f}"
    )
    report = eke.write_report(
        session, target / "report.html", answers, title="Adult: an afternoon of questions"
    )
    console.print(f"\n{session.budget}\nDataset: {dataset}\nReport:  {report}", soft_wrap=True)
    return {
        "dataset": str(dataset),
        "report": str(report),
        "asked": len(answers),
        "free": sum(answer.free for answer in answers),
        **session.budget.to_dict(),
    }


def _lines(asked: DemoQuestion, answer: eke.Answer, left: float) -> str:
    if answer.is_number:
        low, high = answer.interval
        shown = f"{answer.value:>12,.0f}   {low:,.0f} to {high:,.0f}"
    else:
        shown = f"{len(answer):>6} cells   each ±{asked.within:,.0f}"
    paid = "[green]free[/]       " if answer.free else f"paid {answer.cost:.4f}"
    question = f"{answer.receipt.question}  [dim]±{asked.within:,.0f}[/]"
    return f"  [bold]{asked.analyst:<6}[/]{question}\n        {shown:<42}{paid}   left {left:.4f}"
