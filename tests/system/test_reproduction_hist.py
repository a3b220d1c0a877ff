"""The shapes that HIST claims, on the quick version of one of its figures."""

from pathlib import Path

import numpy as np

from reproductions.hist.run import main


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
