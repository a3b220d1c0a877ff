"""The shapes that COMP claims, on the quick version of its reproduction; seeded."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from eke.publish.features import features_of
from reproductions.comp.adult import TARGET, adult_domain, adult_table, coded
from reproductions.comp.baselines import exponential_rows, laplace_rows
from reproductions.comp.diffgen import diffgen
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
