"""The shapes that HIST claims, on the quick version of one of its figures."""

from pathlib import Path

import numpy as np
import pytest

from eke.inference.max_entropy import SamplingEffort
from reproductions.hist import noisy_history
from reproductions.hist.noisy_history import Size
from reproductions.hist.run import main


@pytest.mark.long
def test_shrinkage_is_closer_than_the_noise_and_a_prior_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = SamplingEffort(256, most_steps=3)
    size = Size(120, 60, few, few, (3e-3, 1e-2, 3e-2), (3e-3, 1e-2))
    monkeypatch.setattr(Size, "of", staticmethod(lambda _: size))
    monkeypatch.setattr(noisy_history, "FOLDS", 2)
    arguments = ["--quick", "--figures", "2", "3", "--workers", "1", "--seed", "7"]
    results = main([*arguments, "--out", str(tmp_path)])
    plain, measured = results["2"]["studies"][:2]
    assert plain.unbiased < plain.noisy * 1.001
    assert measured.shrinkage_chosen["past"] < 0.9 * measured.noisy
    assert measured.shrinkage_chosen["new range"] < 0.7 * plain.shrinkage_chosen["new range"]
    # The prior no longer counts when nothing is shrunk.
    ends = [each.shrinkage["past"][-1][1] for each in (plain, measured)]
    assert ends[0] == pytest.approx(ends[1], rel=0.02)
    assert plain.entropy_chosen["alpha"] in dict(plain.entropy["CV"])
    assert len(plain.entropy["past"]) == 3
    assert len(results["2"]["table"]) == 12
    assert len(results["3"]["rows"]) == 8
    for name in ("figure2.png", "figure3.png", "results.json"):
        assert (tmp_path / name).stat().st_size > 2000


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
