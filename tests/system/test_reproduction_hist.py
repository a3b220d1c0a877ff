"""The shapes that HIST claims, on the quick version of one of its figures."""

from pathlib import Path

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.inference.max_entropy import SamplingEffort
from reproductions.hist import noisy_history
from reproductions.hist.noisy_history import Size
from reproductions.hist.randomised import Flipping, Retention
from reproductions.hist.run import main
from reproductions.hist.setting import Census, census, choose_table
from reproductions.hist.studies import METHODS, Band, with_spread


@pytest.mark.long
def test_shrinkage_is_closer_than_the_noise_and_a_prior_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = SamplingEffort(256, most_steps=3)
    size = Size(120, 60, 2, few, few, (3e-3, 1e-2, 3e-2), (3e-3, 1e-2))
    monkeypatch.setattr(Size, "of", staticmethod(lambda _: size))
    monkeypatch.setattr(noisy_history, "FOLDS", 2)
    arguments = ["--quick", "--figures", "2", "3", "--workers", "1", "--seed", "7"]
    results = main([*arguments, "--out", str(tmp_path)])
    plain, measured = results["2"]["studies"][:2]
    shrinkage, entropy = METHODS
    assert len(plain.runs) == 2
    assert plain.noisy[0] != plain.noisy[1]  # fresh questions and noise
    assert plain.noisy == measured.noisy  # and the same for both priors
    for one, other in zip(plain.runs, measured.runs, strict=True):
        assert one.unbiased < one.noisy * 1.001
        assert other.chosen[shrinkage]["past"] < 0.9 * other.noisy
        ours, theirs = (each.chosen[shrinkage]["new range"] for each in (other, one))
        assert ours < 0.7 * theirs
        # The prior no longer counts when nothing is shrunk.
        ends = [each.curves[shrinkage]["past"][-1][1] for each in (one, other)]
        assert ends[0] == pytest.approx(ends[1], rel=0.02)
        assert one.chosen[entropy]["alpha"] in dict(one.curves[entropy]["CV"])
        assert len(one.curves[entropy]["past"]) == 3
    assert len(results["2"]["table"]) == 12
    assert len(results["3"]["rows"]) == 8
    for name in ("figure2.png", "figure3.png", "results.json"):
        assert (tmp_path / name).stat().st_size > 2000


def test_a_band_is_the_mean_between_the_least_and_the_largest() -> None:
    """The second curve has other α; between its points it is read straight on the logarithm."""
    band = Band.of([[(1.0, 4.0), (10.0, 2.0)], [(0.1, 6.0), (10.0, 0.0), (100.0, 8.0)]])
    assert band.alphas.tolist() == [1.0, 10.0]
    assert band.low == pytest.approx([3.0, 0.0])
    assert band.high == pytest.approx([4.0, 2.0])
    assert band.mean == pytest.approx([3.5, 1.0])


def test_repetitions_are_shown_as_a_mean_with_its_spread() -> None:
    assert with_spread([2.0]) == "2"
    assert with_spread([1.0, 3.0]) == "2 ± 1.4"


@pytest.mark.long
def test_figure_4_repeats_every_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = SamplingEffort(256, most_steps=3)
    size = Size(60, 40, 2, few, few, (3e-3, 3e-2), (3e-3,))
    monkeypatch.setattr(Size, "of", staticmethod(lambda _: size))
    found = main(["--quick", "--figures", "4", "--workers", "1", "--out", str(tmp_path)])["4"]
    assert found["errors"].shape == (7, 2, 4)
    assert (found["errors"][:, 0] != found["errors"][:, 1]).all()
    assert (tmp_path / "figure4.png").stat().st_size > 2000


@pytest.mark.long
def test_published_data_keep_joint_distributions_that_randomised_responses_lose(
    tmp_path: Path,
) -> None:
    results = main(["--quick", "--figures", "6", "--out", str(tmp_path)])["6"]
    for kind in ("bivariate", "trivariate"):
        entropy, retention, flipping = np.mean(results[kind]["errors"], axis=0)
        assert entropy < 0.25
        assert min(retention, flipping) > 2.0 * entropy
    for _, entropy, retention, flipping in results["ranges"]:
        assert entropy < min(retention, flipping)
    assert (tmp_path / "figure6.png").stat().st_size > 2000
    assert (tmp_path / "results.json").exists()


@pytest.fixture
def small_table() -> Census:
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, size, 20_000) for size in (5, 2, 3)], axis=1)
    codes[:, 2] = np.maximum(codes[:, 2], codes[:, 1])
    return Census(Domain(a=Integer(0, 4), b=Integer(0, 1), c=Integer(0, 2)), codes)


@pytest.mark.parametrize("chosen", [("a", "b"), ("b", "a", "c"), ("c", "b", "a")])
def test_flipping_joints_are_sums_over_records_of_products(
    small_table: Census, chosen: tuple[str, ...]
) -> None:
    """All records at once, in the order asked for: three blocks of them, N = 20,000."""
    flipping = Flipping(small_table, 1.0, np.random.default_rng(4))
    places = [small_table.domain.names.index(name) for name in chosen]
    parts = [(flipping.bits[k] - flipping.flipped) / (1.0 - 2.0 * flipping.flipped) for k in places]
    letters = "xyz"[: len(parts)]
    slow = np.einsum(",".join(f"n{x}" for x in letters) + "->" + letters, *parts) / 20_000
    assert flipping.joint(chosen) == pytest.approx(slow.reshape(-1), abs=1e-5)


@pytest.mark.parametrize("method", [Flipping, Retention])
def test_randomised_responses_are_unbiased_for_small_domains(small_table: Census, method) -> None:
    """N = 20,000 records, γ = e^8: hardly any noise is left."""
    made = method(small_table, 8.0, np.random.default_rng(5))
    truth = small_table.counts(["a", "b", "c"]) / small_table.total
    assert np.abs(made.joint(("a", "b", "c")) - truth).max() < 0.01
    assert made.range_share({1: np.array([0.0, 1.0])}) == pytest.approx(
        small_table.counts(["b"])[1] / small_table.total, abs=0.02
    )


def test_another_table_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EKE_HIST_TABLE", "EKE_HIST_COLUMNS"):
        monkeypatch.setenv(name, "")  # so that it is put back
    path = tmp_path / "ipums.csv"
    path.write_text("age,sex,state,land\n30,F,NY,US\n40,M,NY,US\n30,M,,US\n", "utf-8")
    try:
        choose_table(path, ["sex", "age", "state"])
        assert census().domain.names == ("sex", "age", "state")
        assert census().codes.tolist() == [[0, 0, 0], [1, 1, 0], [1, 0, 1]]  # what is missing, last
        for columns, message in (
            (["sex", "age"], "at least 3 columns"),
            (["sex", "age", "colour"], "no column colour"),
            ([], "land has 1 values"),
        ):
            with pytest.raises(ValueError, match=message):
                choose_table(path, columns)
    finally:
        census.cache_clear()
