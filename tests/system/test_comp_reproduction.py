"""The shapes that COMP claims, on the quick version of its reproduction; seeded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eke.domain import Binned, Categorical, Integer
from eke.publish.features import features_of
from reproductions.comp.adult import TARGET, adult_domain, adult_table
from reproductions.comp.baselines import exponential_rows, laplace_rows
from reproductions.comp.diffgen import Generalised, diffgen
from reproductions.comp.records import coded, read_records
from reproductions.comp.run import main as run_comp


@pytest.fixture(scope="module")
def comp(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("comp")
    return run_comp(["--quick", "--out", str(out)]) | {"out": out}


@pytest.mark.long
def test_pictures_and_results_are_written(comp):
    for name in ("figure1", "figure2", "figure3", "figure4"):
        assert (comp["out"] / f"{name}.png").stat().st_size > 2000
    results = json.loads((comp["out"] / "results.json").read_text("utf-8"))
    assert {"figure 1", "figure 2", "lda accuracy", "divergence"} <= set(results)


@pytest.mark.long
def test_figure_1_a_component_needs_less_noise_than_two_attributes(comp):
    for _, attributes, component in comp["1"]["rows"]:
        assert component < attributes / 2


def error(comp: dict[str, Any], epsilon: float, name: str) -> tuple[float, float]:
    """Mean squared errors of a row, before and after decoding."""
    raw, decoded = np.mean(comp["2"]["errors"][epsilon][name], axis=0)
    return float(raw), float(decoded)


@pytest.mark.long
def test_figure_2_few_components_beat_the_baselines_and_more_cost_more(comp):
    raw = [error(comp, 1.5, f"PCA {k}")[0] for k in (1, 2, 5, 10)]
    assert raw == sorted(raw)
    assert raw[-1] < error(comp, 1.5, "Laplace")[0]
    for baseline in ("Laplace", "Exponential"):
        assert error(comp, 1.5, "PCA 1")[1] < error(comp, 1.5, baseline)[1]
        assert error(comp, 1.5, "PCA auto, shrunk")[1] < error(comp, 1.5, baseline)[1]


@pytest.mark.long
def test_squared_distances_meet_exact_moments_and_absolute_ones_do_not(comp):
    squared, absolute = comp["sampler"]["rows"]
    assert squared[2] < 20 < absolute[2]
    assert squared[3] > absolute[3]


def outcome(comp: dict[str, Any], name: str) -> Any:
    return comp["3"]["outcomes"][name][1.0][0]


@pytest.mark.long
def test_figures_3_and_4_lda_keeps_what_diffgen_loses(comp):
    """6,000 records only: the full run has five times as many."""
    mine = outcome(comp, "LDA (eke)")
    assert mine.lda_accuracy > 0.79
    assert mine.lda_auc > outcome(comp, "DiffGen InfoGain").lda_auc
    for utility in ("InfoGain", "Max"):
        other = outcome(comp, f"DiffGen {utility}")
        assert mine.divergence < other.divergence
        assert mine.entropy > other.entropy + 1
    assert mine.lda_accuracy > outcome(comp, "LDA, paper + sizes").lda_accuracy


@pytest.fixture(scope="module")
def records() -> tuple[Any, np.ndarray, np.ndarray]:
    domain = adult_domain()
    codes = coded(adult_table().head(2000), domain)
    features = features_of(domain, [name for name in domain.names if name != TARGET])
    return features, codes[:, :-1], codes[:, -1]


def test_without_noise_the_baselines_give_the_records_back(records):
    features, codes, _ = records
    rng = np.random.default_rng(1)
    assert (features.decode(laplace_rows(features, codes, 1e9, rng)) == codes).all()
    assert (exponential_rows(features, codes, 1e9, rng) == codes).all()


@pytest.mark.parametrize("utility", ["InfoGain", "Max"])
def test_diffgen_counts_generalised_records(records, utility):
    features, codes, classes = records
    rng = np.random.default_rng(2)
    made = diffgen(features, codes, classes, 1e9, utility=utility, neighbours="add_remove", rng=rng)
    values, released = made.rows()
    assert len(values) == len(codes)
    assert np.bincount(released).tolist() == np.bincount(classes).tolist()
    for place, members in enumerate(made.members):  # a partition of every attribute
        assert sorted(np.concatenate(members)) == list(range(len(features.all[place].table)))
    real = made.generalise(codes)
    assert sorted(map(tuple, real)) == sorted(map(tuple, values))
    assert made.encode(features, values).shape == (len(values), features.width)


# -- another table -------------------------------------------------------------------------------


@pytest.fixture
def other_table(tmp_path: Path) -> Path:
    """N = 600 records; the class depends on the weight, `speed` is missing nearly everywhere."""
    rng = np.random.default_rng(5)
    weight = rng.normal(70.0, 10.0, 600)
    frame = pd.DataFrame(
        {
            "kind": np.where(weight + rng.normal(0.0, 4.0, 600) > 70.0, "heavy", "light"),
            "weight": weight.round(3),
            "day": rng.integers(1, 32, 600),
            "price": rng.integers(0, 10**9, 600),
            "doors": rng.integers(2, 5, 600),
            "workclass": rng.choice(["Private", "?"], 600),
            "name": [f"n{number}" for number in range(600)],
            "speed": [1.5] * 5 + [np.nan] * 595,
        }
    )
    path = tmp_path / "other.csv"
    frame.to_csv(path, index=False)
    return path


OTHER_COLUMNS = ["weight", "day", "price", "doors", "workclass"]


def test_columns_of_another_table_are_numbers_bins_or_categories(other_table: Path) -> None:
    records = read_records(other_table, OTHER_COLUMNS, "kind")
    assert records.codes.shape == (600, 6)  # what is missing elsewhere drops nothing
    assert records.domain.names == (*OTHER_COLUMNS, "kind")
    kinds = [type(attribute) for _, attribute in records.domain.attributes]
    assert kinds == [Binned, Integer, Binned, Categorical, Categorical, Categorical]
    assert records.domain["price"].size == 100
    assert records.features().width == 3 + 3 + 2


@pytest.mark.parametrize(
    ("columns", "target", "message"),
    [
        (["weight", "colour"], "kind", "no column colour"),
        (["weight", "name"], "kind", "name has 600 value"),
        (["weight", "speed"], "kind", "speed has 1 value"),
        (["weight"], "day", "every class of day needs at least 20"),
        ([], "kind", "complete records"),
        (["kind"], "kind", "beside"),
    ],
)
def test_columns_that_teach_nothing_are_refused(
    other_table: Path, columns: list[str], target: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_records(other_table, columns, target)


def test_what_is_wrong_with_a_table_is_said_in_a_line(other_table: Path) -> None:
    """A file that is not there, and more rare classes than anybody reads."""
    with pytest.raises(SystemExit, match="No such file"):
        run_comp(["--figures", "2", "--data", str(other_table.with_name("nowhere.csv"))])
    with pytest.raises(ValueError, match=r"and \d+ others") as refused:
        read_records(other_table, ["weight"], "day")
    assert len(str(refused.value)) < 300


def test_a_run_on_another_table(other_table: Path, tmp_path: Path) -> None:
    command = ["--quick", "--figures", "sampler", "--data", str(other_table), "--target", "kind"]
    found = run_comp([*command, "--columns", ",".join(OTHER_COLUMNS), "--out", str(tmp_path)])
    for _, _, _, accuracy, area in found["sampler"]["rows"]:
        assert accuracy > 0.6
        assert area > 0.6
    with pytest.raises(SystemExit, match="no column colour"):
        run_comp([*command, "--columns", "colour", "--out", str(tmp_path)])


def test_diffgen_generalises_columns_named_as_those_of_adult(other_table: Path) -> None:
    """Its work classes are others than Adult's, so Adult's taxonomy is of no use."""
    records = read_records(other_table, OTHER_COLUMNS, "kind")
    features, rng = records.features(), np.random.default_rng(6)
    codes, classes = records.codes[:, :-1], records.codes[:, -1]
    made = diffgen(features, codes, classes, 1e9, utility="Max", neighbours="add_remove", rng=rng)
    assert sorted(map(tuple, made.generalise(codes))) == sorted(map(tuple, made.rows()[0]))


def test_diffgen_gives_few_rows_where_noise_makes_many() -> None:
    counts = np.array([[[6.0, 0.2]], [[3.1, -4.0]], [[0.0, 3.0]]])  # two attributes, two classes
    leaves = (np.arange(3), np.zeros(1, np.int64))
    made = Generalised(counts, leaves, ([np.array([i]) for i in range(3)], [np.array([0])]))
    whole, classes = made.rows()
    assert whole[:, 0].tolist() == [0] * 6 + [1] * 3 + [2] * 3
    assert classes.tolist() == [0] * 9 + [1] * 3
    few, classes = made.rows(most=4)
    assert few[:, 0].tolist() == [0, 0, 1, 2]
    assert classes.tolist() == [0, 0, 0, 1]
