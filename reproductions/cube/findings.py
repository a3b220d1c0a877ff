"""What CUBE Fig. 4 to 6 show, in sentences made of the figures of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reproductions.answering.report import Report
from reproductions.cube.figures import REWEIGHTED
from reproductions.cube.methods import EKE, METHODS

Outcomes = Mapping[str, Mapping[str, Mapping[str, float]]]


def say_figure_4(report: Report, outcomes: Outcomes, fourier: Outcomes) -> None:
    """Adult."""
    base = {name: _over_best_other(by, "I") for name, by in outcomes.items()}
    worst = ", ".join(f"{value:.2g} on {name}" for name, value in base.items())
    starred = _saved(outcomes["Q*1"], "Q", "expected")
    every = [_saved(by, "Q", "expected") for by in outcomes.values()]
    best = {name: min(METHODS, key=lambda m: by[m]["relative"]) for name, by in outcomes.items()}
    report.says(
        "4, I and Q",
        "I is never effective on Adult; Q works generally well, Q+ improves Q*1 by 20 to 25 %",
        f"I over the best of the others: {worst}. Q+ saves {starred:.1f} % of the RMSE on Q*1, "
        f"{min(every):.1f} to {max(every):.1f} % over the workloads. The best of the seven: "
        + ", ".join(f"{method} on {name}" for name, method in best.items()),
    )
    by = fourier["Q*1"]
    plotted = _change(by["F"], by["F+"], "relative")
    report.says(
        "4, F",
        "non-uniform noise improves F, which stays inferior",
        _fourier_saving(outcomes)
        + f", still inferior to Q and C {_where(outcomes, _fourier_is_inferior)}. In the plotted "
        f"measure F+ on Q*1 is {abs(plotted):.1f} % "
        f"{'worse' if plotted > 0 else 'better'} than F, "
        f"while the error of a cell falls from {by['F']['absolute']:.0f} to "
        f"{by['F+']['absolute']:.0f}: F+ minimises variances of cells, the plot weighs a cell by "
        f"the size of its marginal. With noise chosen for the plot's weights F+ has "
        f"{by[REWEIGHTED]['relative']:.3f} against {by['F']['relative']:.3f} for F and "
        f"{by['F+']['relative']:.3f} for F+",
    )
    report.says("4, eke", "", _eke(outcomes))


def say_figure_5(report: Report, outcomes: Outcomes) -> None:
    """The binary table."""
    starred = [name for name in outcomes if "*" in name]
    gains = [f"{_saved(outcomes[n], 'F', 'expected'):.1f} % on {n}" for n in starred]
    report.says(
        "5, F and C",
        "F gains 30 to 35 % on Q*1 and Q*2, C about 5 %",
        f"F+ saves {' and '.join(gains)} of the RMSE; C+ saves "
        + _range([_saved(by, "C", "expected") for by in outcomes.values()], "{:.1f}")
        + " %",
    )
    ones = {name: by for name, by in outcomes.items() if name.endswith("1")}
    report.says(
        "5, k = 1",
        "C has the least error, F slightly more; I is not competitive",
        "; ".join(
            f"{name}: "
            + ", ".join(f"{m} {by[m]['relative']:.2g}" for m in ("C+", "C", "F+", "Q", "I"))
            for name, by in ones.items()
        ),
    )
    twos = {name: by for name, by in outcomes.items() if name.endswith("2")}
    if twos:
        report.says(
            "5, k = 2",
            "I becomes more accurate as the degree rises (Q*2, Qa2)",
            "; ".join(
                f"{name}: "
                + ", ".join(f"{m} {by[m]['relative']:.2g}" for m in ("I", "C+", "F+", "Q+"))
                for name, by in twos.items()
            ),
        )
    report.says("5, eke", "", _eke(outcomes))


def say_figure_6(report: Report, times: Mapping[str, Mapping[str, float]]) -> None:
    """Seconds."""

    def spread(methods: list[str]) -> str:
        return _range([by[m] for by in times.values() for m in methods], "{:.2g}")

    others = [m for m in METHODS if not m.startswith("C")]
    report.says(
        "6",
        "all but C take less than a second, C takes hours",
        f"I, Q and F take {spread(others)} s, C {spread(['C', 'C+'])} s, eke, which tries many "
        f"designs, {spread([EKE])} s of processor time",
    )


def _eke(outcomes: Outcomes) -> str:
    def against(measure: str) -> str:
        return ", ".join(
            f"{100 * (1 - by[EKE][measure] / min(by[m][measure] for m in METHODS)):.0f} % ({n})"
            for n, by in outcomes.items()
        )

    return (
        f"eke below the best of the seven in the plotted measure: {against('relative')}; in RMSE "
        f"before consistency: {against('expected')}"
    )


def _fourier_saving(outcomes: Outcomes) -> str:
    saved = [_saved(by, "F", "expected") for by in outcomes.values()]
    return f"F+ saves {_range(saved, '{:.0f}')} % of the RMSE"


def _fourier_is_inferior(by: Mapping[str, Mapping[str, float]]) -> bool:
    fourier = min(by[m]["relative"] for m in ("F", "F+"))
    return fourier > max(by[m]["relative"] for m in ("Q", "Q+", "C", "C+"))


def _where(outcomes: Outcomes, test: Callable[[Mapping[str, Mapping[str, float]]], bool]) -> str:
    passing = [name for name, by in outcomes.items() if test(by)]
    return "everywhere" if len(passing) == len(outcomes) else "on " + ", ".join(passing)


def _over_best_other(by: Mapping[str, Mapping[str, float]], method: str) -> float:
    return by[method]["relative"] / min(by[m]["relative"] for m in METHODS if m != method)


def _saved(by: Mapping[str, Mapping[str, float]], name: str, measure: str) -> float:
    return -_change(by[name], by[f"{name}+"], measure)


def _change(before: Mapping[str, float], after: Mapping[str, float], measure: str) -> float:
    return 100.0 * (after[measure] / before[measure] - 1.0)


def _range(values: list[float], form: str) -> str:
    low, high = (form.format(end).replace("-0.0", "0.0") for end in (min(values), max(values)))
    return f"{low} to {high}"
