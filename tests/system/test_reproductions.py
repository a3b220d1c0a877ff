"""The shapes that BAYES and ONLINE claim, on the quick versions of their reproductions.

Every experiment is seeded, so these tests do not flicker; bounds leave room for what numerical
libraries may change. Times are compared only where the papers' and eke's differ by large factors.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.inference import ComposedNoise
from eke.inference.papers.product import ProductPosterior
from eke.inference.papers.representation import linear_representations
from eke.planning import direct
from eke.query import table
from reproductions.answering.eke_system import EkeSystem
from reproductions.answering.histogram import (
    Histogram,
    adult_age_by_sex,
    census_age_by_sex,
    read_histogram,
)
from reproductions.answering.paper_history import PaperHistory
from reproductions.answering.paper_systems import InferringSystem, infer_blue
from reproductions.answering.product_posterior import Observation, product_posterior
from reproductions.answering.representations import greedy_representations
from reproductions.answering.source import NoisySource, hierarchical_rows, measured_tree
from reproductions.answering.trace import run
from reproductions.answering.workload import draw_workload, interest
from reproductions.bayes.run import main as run_bayes
from reproductions.online.run import main as run_online

FIGURES = [f"figure{number}" for number in range(5, 11)]
BASELINE = "improved baseline"
SMALLEST_PICTURE = 2000  # bytes


def final(summary: dict[str, Any], system: str, merit: str) -> float:
    """The mean of a figure of merit after the last query, for the only histogram there is."""
    (by_system,) = summary.values()
    mean = by_system[system][merit]["mean"]
    assert isinstance(mean, float)
    return mean


@pytest.fixture(scope="module")
def bayes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("bayes")
    results = run_bayes(["--quick", "--workers", "1", "--out", str(out)])
    return results | {"out": out}


@pytest.fixture(scope="module")
def online(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("online")
    results = run_online(["--quick", "--workers", "1", "--out", str(out)])
    return results | {"out": out}


@pytest.mark.long
@pytest.mark.parametrize("paper", ["bayes", "online"])
def test_a_run_leaves_a_picture_and_numbers_for_every_figure(
    paper: str, request: pytest.FixtureRequest
) -> None:
    out: Path = request.getfixturevalue(paper)["out"]
    kept = json.loads((out / "results.json").read_text("utf-8"))
    assert set(FIGURES) < set(kept)
    for figure in FIGURES:
        assert (out / f"{figure}.png").stat().st_size > SMALLEST_PICTURE


# -- BAYES ---------------------------------------------------------------------------------------


def test_bayes_2_and_3_the_example_is_not_what_the_paper_prints(tmp_path: Path) -> None:
    """20,000 draws, seeded; the exact interval is checked in test_paper_examples.py."""
    found = run_bayes(["--quick", "--figures", "2", "--out", str(tmp_path)])["2"]
    sampled, convolved, exact, _, wider = found["rows"]
    for row in (sampled, convolved):
        assert row[1:3] == pytest.approx(exact[1:3], abs=3.0)
    assert exact[1:3] == pytest.approx((-5.3695, 89.3971), abs=1e-3)
    assert wider[1:3] == pytest.approx((-41.0, 125.0), abs=0.02)
    assert wider[3] == pytest.approx(0.88, abs=0.03)
    assert found["held"] > 1.0 - 0.01
    assert (tmp_path / "figures2and3.png").stat().st_size > SMALLEST_PICTURE


@pytest.mark.long
def test_bayes_5_and_6_time_every_size_that_was_asked_for(bayes: dict[str, Any]) -> None:
    """How the times compare is for the pictures: a busy machine must not fail a test."""
    for figure, kinds in (
        ("5", ("normal", "step")),
        ("6", ("monte_carlo", "convolution", "exact")),
    ):
        for points in (bayes[figure]["by_m"], bayes[figure]["by_n"]):
            assert len(points) >= 2
            assert all(point[kind] > 0.0 for point in points for kind in kinds)


@pytest.mark.long
def test_bayes_7_the_error_of_convolving_does_not_grow_with_beta(bayes: dict[str, Any]) -> None:
    points = bayes["7"]["points"]
    coarse = [point["error"] for point in points if point["beta"] >= 1000]
    assert coarse[-1] < coarse[0]
    assert all(error < 0.01**2 for error in coarse)
    assert all(point["eke_error"] < 0.01**2 for point in points)


@pytest.mark.long
def test_bayes_7_whole_cells_break_the_papers_bound_for_small_beta(bayes: dict[str, Any]) -> None:
    """Theorem 4.5 counts lost mass only; parts narrower than a cell are rounded away."""
    assert bayes["7"]["points"][0]["error"] > 100 * 0.01**2


@pytest.mark.long
def test_bayes_8_the_error_of_sampling_falls_with_its_size(bayes: dict[str, Any]) -> None:
    """N = 50,000 and 200,000 draws, two vectors each of about a hundred cells."""
    small, large = bayes["8"]["points"]
    assert large["error"] < 0.5 * small["error"]
    for point in (small, large):
        assert point["error"] == pytest.approx(point["expected"], rel=0.5)
        assert point["error"] < point["bound"]


@pytest.mark.long
def test_bayes_9_inference_from_a_tree_saves_budget_and_error(bayes: dict[str, Any]) -> None:
    """N = 100 questions; the tree's own 0.3 is counted."""
    summary = bayes["9"]
    for system in ("BLUE (BAYES)", "eke direct", "eke top_up"):
        assert final(summary, system, "answered") == 1.0
        assert final(summary, system, "paid") < 0.25
        assert final(summary, system, "error") < 0.6 * final(summary, BASELINE, "error")
        assert final(summary, system, "spent") - 0.3 < 0.6 * final(summary, BASELINE, "spent")
    assert final(summary, "eke top_up", "spent") < final(summary, "eke direct", "spent")


@pytest.mark.long
def test_bayes_10_inference_answers_more_and_better(bayes: dict[str, Any]) -> None:
    """N = 300 questions, budget 1."""
    summary = bayes["10"]
    for system in ("BLUE (BAYES)", "eke direct", "eke top_up"):
        assert final(summary, system, "answered") > final(summary, BASELINE, "answered") + 0.2
        assert final(summary, system, "error") < 0.8 * final(summary, BASELINE, "error")
        assert final(summary, system, "spent") <= 1.0
    assert final(summary, "BLUE (BAYES)", "error") < final(summary, "least squares", "error")


@pytest.mark.long
@pytest.mark.parametrize("figure", ["9", "10"])
def test_the_papers_rule_in_eke_pays_what_the_paper_pays(
    bayes: dict[str, Any], figure: str
) -> None:
    """`direct` and BAYES's system decide alike; only what is said after paying differs."""
    summary = bayes[figure]
    for merit in ("answered", "spent", "paid"):
        ours, theirs = (final(summary, s, merit) for s in ("eke direct", "BLUE (BAYES)"))
        assert ours == pytest.approx(theirs, rel=1e-4)


# -- ONLINE --------------------------------------------------------------------------------------


@pytest.mark.long
def test_online_5_the_worked_example(online: dict[str, Any]) -> None:
    """The printed mean and interval belong to a sensitivity of 2 where eq. 12 says 4."""
    example = online["5"]
    found = np.array(example["representations"])
    printed_rows = [[0, 0, 0.5, -0.5, 0, 0, 0], [0, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, -1, 0.5]]
    assert found == pytest.approx(np.array(printed_rows))
    assert example["high"] - example["low"] > 30.0  # so that a direct answer must be bought
    assert example["mean"] == pytest.approx(85.91, abs=0.01)
    assert example["slip_mean"] == pytest.approx(84.0, abs=0.05)
    assert example["slip_holds"] == pytest.approx(0.8, abs=0.005)
    assert example["alpha"] == pytest.approx(0.1073, abs=1e-4)
    printed = [0, 0.1, 0, 0, 0.408, 0.283, 0, 0.2, 0.2]
    assert example["cell_losses"] == pytest.approx(printed, abs=1e-3)


@pytest.mark.long
def test_online_6_dynamic_allocation_keeps_every_promise(online: dict[str, Any]) -> None:
    """N = 1000 questions, twice; R_i of 0.95 has a standard deviation of 0.005."""
    summary = online["6"]
    assert final(summary, "dynamic", "answered") == 1.0
    assert final(summary, "dynamic", "reliability") == pytest.approx(0.95, abs=0.02)
    assert final(summary, "dynamic", "spent") < final(summary, "static 0.004", "spent")
    assert final(summary, "static 0.004", "answered") < 0.95
    assert final(summary, "static 0.002", "reliability") < 0.935


@pytest.mark.long
def test_online_7_inference_from_a_tree_reduces_the_error(online: dict[str, Any]) -> None:
    """N = 60 questions."""
    summary = online["7"]
    for system in ("product (ONLINE)", "eke direct", "eke top_up"):
        assert final(summary, system, "answered") == 1.0
        assert final(summary, system, "paid") < 0.25
        assert final(summary, system, "error") < 0.6 * final(summary, BASELINE, "error")


@pytest.mark.long
def test_online_8_the_bounded_system(online: dict[str, Any]) -> None:
    """N = 200 questions, budget 1: one posterior from all of history beats disjoint products."""
    summary = online["8"]
    order = [BASELINE, "product (ONLINE)", "eke direct"]
    answered = [final(summary, system, "answered") for system in order]
    assert answered == sorted(answered)
    errors = [final(summary, system, "error") for system in order]
    assert errors == sorted(errors, reverse=True)
    assert final(summary, "eke direct", "error") < final(summary, "least squares", "error")
    # A direct answer is off by b = ε/ln(1/δ) on average.
    assert errors[0] == pytest.approx(-1.0 / math.log(0.2), rel=0.2)


@pytest.mark.long
def test_online_8_each_interval_is_right_but_a_run_may_be_lucky(online: dict[str, Any]) -> None:
    """N = 2000 draws of the noise of one run of 200 questions at 80 %.

    The share of one question has a standard deviation of 0.009; R_i of a run does not settle.
    """
    found = online["reliability"]
    assert found["mean"] == pytest.approx(0.8, abs=0.01)
    assert 0.76 < found["least_query"] <= found["most_query"] < 0.84
    assert found["deviation"] > 0.03  # independent answers would give 0.028


@pytest.mark.long
@pytest.mark.parametrize("figure", ["9", "10"])
def test_online_9_and_10_more_budget_or_less_accuracy_answers_more(
    online: dict[str, Any], figure: str
) -> None:
    """N = 120 questions at each end of the scale."""
    (by_value,) = online[figure].values()  # a column for each histogram: a quick look has one
    least, most = by_value.values()
    for system in (BASELINE, "product (ONLINE)", "eke direct", "eke top_up"):
        assert most[system]["answered"]["mean"] > least[system]["answered"]["mean"]
    for values in (least, most):
        ours = values["eke direct"]["answered"]["mean"]
        assert ours >= values[BASELINE]["answered"]["mean"]


# -- the parts -----------------------------------------------------------------------------------


def test_interest_falls_tenfold_from_group_to_group_and_adds_up_to_one() -> None:
    probabilities = interest(182)
    assert probabilities.sum() == pytest.approx(1.0)
    assert probabilities[0] == pytest.approx(0.09)
    assert probabilities[9] / probabilities[10] == pytest.approx(10.0)


def test_every_record_is_in_one_node_of_each_level_of_the_tree() -> None:
    rows, levels = hierarchical_rows(11)
    assert levels == 5
    assert (rows.sum(axis=0) == levels).all()


def test_the_built_in_histograms_hold_everybody() -> None:
    census, adult = census_age_by_sex(), adult_age_by_sex()
    assert (census.cells, int(census.counts.sum())) == (182, 299_285)
    assert (adult.cells, int(adult.counts.sum())) == (148, 48_842)


@pytest.mark.parametrize(
    ("text", "columns", "counts"),
    [
        ("3\n0\n5\n", [], [3, 0, 5]),
        ("count\n3\n0\n5\n", [], [3, 0, 5]),
        ("a,b\nx,1\ny,1\nx,2\n", [], [2, 1]),
        ("a,b\nx,1\ny,1\nx,2\n", ["a", "b"], [1, 1, 1, 0]),
    ],
)
def test_other_tables_can_be_given(
    tmp_path: Path, text: str, columns: list[str], counts: list[int]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, "utf-8")
    assert read_histogram(path, columns).counts.tolist() == counts


def test_a_negative_count_is_no_histogram() -> None:
    with pytest.raises(ValueError, match="negative"):
        Histogram("bad", np.array([1, -1]))


def test_a_run_on_another_table(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(str(number) for number in range(40)), "utf-8")
    results = run_online(
        ["--quick", "--figures", "6", "--data", str(path), "--out", str(tmp_path), "--workers", "1"]
    )
    assert list(results["6"]) == ["counts.csv"]


def random_history(generator: np.random.Generator) -> tuple[PaperHistory, np.ndarray]:
    history = PaperHistory(12)
    for _ in range(50):
        row = generator.multinomial(generator.integers(1, 6), np.full(12, 1 / 12))
        history.append(row, float(generator.normal(0.0, 50.0)), float(generator.uniform(1, 40)))
    return history, generator.multinomial(4, np.full(12, 1 / 12))


def test_representations_and_their_product_agree_with_eke() -> None:
    """N = 6 random histories of 50 measurements: two independent implementations."""
    domain = Domain(cell=Integer(0, 11))
    for number in range(6):
        history, question = random_history(np.random.default_rng(number))
        ours = greedy_representations(history.matrix, question)
        theirs = linear_representations(
            [table(["cell"], row).on(domain) for row in history.matrix],
            table(["cell"], question.astype(float)).on(domain),
        )
        assert len(ours) == len(theirs) > 1
        assert np.allclose(ours, theirs, atol=1e-7)
        parts = [np.abs(weights) * history.laplace_scales for weights in ours]
        values = [float(weights @ history.values) for weights in ours]
        mine = product_posterior(
            [Observation(v, p[p > 0]) for v, p in zip(values, parts, strict=True)]
        )
        other = ProductPosterior(
            [(v, ComposedNoise(p)) for v, p in zip(values, parts, strict=True)]
        )
        deviation = math.sqrt(other.variance)
        assert mine.mean == pytest.approx(other.value, abs=0.01 * deviation)
        assert np.allclose(mine.interval(0.2), other.interval(0.8), atol=0.03 * deviation)


def test_the_normal_equations_agree_with_eke() -> None:
    """N = 80 questions on a history that starts from a tree; both systems see the same noise."""
    histogram = Histogram("small", np.arange(20))
    workload = draw_workload(
        20, 80, within=(5.0, 100.0), delta=0.2, generator=np.random.default_rng(1)
    )
    traces = []
    for build in (
        lambda source: InferringSystem(source, 8.0, infer_blue),
        lambda source: EkeSystem(source, 8.0, direct),
    ):
        source = NoisySource(histogram, np.random.default_rng(2))
        system = build(source)
        system.start_from(*measured_tree(source, 0.5))
        traces.append(run(system, workload, source))
    theirs, ours = traces
    assert (theirs.paid == ours.paid).all()
    assert 0 < theirs.paid.sum() < 80
    free = theirs.answered & ~theirs.paid
    assert np.allclose(theirs.value[free], ours.value[free], atol=0.05)
    assert np.allclose(theirs.low[free], ours.low[free], atol=0.05)
