"""BAYES Fig. 6 to 8: what Monte Carlo (MC) and probability calculation (PC) cost and miss.

Both are eke's own, set as the paper has them: PC on cells of width 1 with plain convolutions, MC
with the sample size of §6.3. Errors are those of Definition 4.2, against the exact masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.inference import ComposedNoise, halfwidth
from eke.inference.papers.convolution import ConvolutionPosterior
from eke.inference.papers.monte_carlo import MonteCarloPosterior, required_sample_size
from eke.inference.posterior import exact_masses, mass_error
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report, processor_seconds
from reproductions.bayes.blue_time import blue_weights, random_history

GAMMA = 0.01
LARGEST = 5  # max(S)
CONFIDENCE = 0.95
MC, PC, EXACT = "Monte Carlo (MC)", "probability calculation (PC)", "eke, exact"


def composed_noise(m: int, n: int, generator: np.random.Generator) -> ComposedNoise:
    """The error of BLUE for a random question on a random history."""
    history = random_history(m, n, LARGEST, generator)
    question: NDArray[np.int64] = generator.integers(0, LARGEST + 1, n)
    return ComposedNoise(np.abs(blue_weights(history, question)) * history.laplace_scales)


def beta(noise: ComposedNoise) -> float:
    """β = (Σ |A_k| S_k/α_k)², which rules the time of PC (BAYES Th. 4.6)."""
    return float(noise.laplace_scales.sum() ** 2)


def with_beta(noise: ComposedNoise, wanted: float) -> ComposedNoise:
    """The error of a multiple of the question, such that β is as wanted."""
    return ComposedNoise(noise.laplace_scales * (wanted / beta(noise)) ** 0.5)


def paper_convolution(noise: ComposedNoise) -> ConvolutionPosterior:
    """PC as printed: whole numbers, one plain convolution after the other, shortest first."""
    return ConvolutionPosterior(0.0, noise, gamma=GAMMA, step=1.0, method="direct")


def eke_convolution(noise: ComposedNoise) -> ConvolutionPosterior:
    """PC as eke sets it: cells as fine as the noise needs, and Fourier transforms."""
    return ConvolutionPosterior(0.0, noise, gamma=GAMMA)


def convolution_error(posterior: ConvolutionPosterior) -> float:
    """The error of a probability mass vector against the exact one (BAYES Def. 4.2)."""
    mass = posterior.mass
    exact = exact_masses(posterior.noise, len(mass.masses), mass.step)
    return mass_error(mass.masses, exact.masses)


def sample_size(noise: ComposedNoise, generator: np.random.Generator) -> int:
    """The m_s of §6.3: 10,000 draws first, then what Corollary 4.1 asks for."""
    first = MonteCarloPosterior(0.0, noise, 10_000, generator)
    return required_sample_size(first.mass().masses, GAMMA)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds for a 95 % interval by each method, at one size."""

    m: int
    n: int
    monte_carlo: float
    convolution: float
    exact: float
    draws: int
    convolution_error: float


def cost(m: int, n: int, generator: np.random.Generator) -> Cost:
    """Time of each method for a random question on a random history."""
    noise = composed_noise(m, n, generator)
    draws = sample_size(noise, generator)

    def by_sampling() -> float:
        return MonteCarloPosterior(0.0, noise, draws, generator).mass().halfwidth(CONFIDENCE)

    def by_convolving() -> ConvolutionPosterior:
        return paper_convolution(noise)

    return Cost(
        m,
        n,
        processor_seconds(by_sampling, repeats=1),
        processor_seconds(by_convolving),
        # A fresh noise each time: eke remembers the half-widths of noises it has seen.
        processor_seconds(lambda: halfwidth(ComposedNoise(noise.laplace_scales), CONFIDENCE)),
        draws,
        convolution_error(by_convolving()),
    )


def figure_6(report: Report) -> dict[str, Any]:
    """Time of MC, PC and the exact posterior against m (n = 100) and n (m = 500)."""
    generator = np.random.default_rng([report.seed, 6])
    rows = [200, 500] if report.quick else list(range(200, 1001, 100))
    cells = [50, 200, 400] if report.quick else list(range(50, 451, 50))
    halfwidth(composed_noise(20, 10, generator), CONFIDENCE)  # compiles on first use
    by_m = [cost(m, 100, generator) for m in rows]
    by_n = [cost(500, n, generator) for n in cells]
    for label, series in (("m (n = 100)", by_m), ("n (m = 500)", by_n)):
        report.table(
            f"Fig. 6: a 95 % interval, milliseconds of processor time against {label}",
            ["m", "n", MC, "draws", PC, "PC error (Def. 4.2)", EXACT],
            [
                (
                    *(c.m, c.n, 1e3 * c.monte_carlo, c.draws),
                    *(1e3 * c.convolution, c.convolution_error, 1e3 * c.exact),
                )
                for c in series
            ],
        )

    def panel(series: list[Cost], size: str, title: str) -> Panel:
        x = [c.m if size == "m" else c.n for c in series]
        lines = [
            Line(MC, x, [1e3 * c.monte_carlo for c in series], "o"),
            Line(PC, x, [1e3 * c.convolution for c in series], "s"),
            Line(EXACT, x, [1e3 * c.exact for c in series], "^"),
        ]
        return Panel(lines, size, "milliseconds", title, ylog=True)

    save_grid(
        report.picture("figure6"),
        [[panel(by_m, "m", "n = 100"), panel(by_n, "n", "m = 500")]],
    )
    result = {
        key: [
            {
                "m": c.m,
                "n": c.n,
                "monte_carlo": c.monte_carlo,
                "convolution": c.convolution,
                "exact": c.exact,
                "draws": c.draws,
                "convolution_error": c.convolution_error,
            }
            for c in series
        ]
        for key, series in (("by_m", by_m), ("by_n", by_n))
    }
    report.keep("figure6", result)
    report.says(
        "6",
        "the time of MC rises with m, PC's hardly; PC's rises with n, MC's does not",
        f"m = {rows[0]} to {rows[-1]}: MC {_ends(by_m, 'monte_carlo')}, PC "
        f"{_ends(by_m, 'convolution')}; "
        f"n = {cells[0]} to {cells[-1]}: MC {_ends(by_n, 'monte_carlo')}, PC "
        f"{_ends(by_n, 'convolution')}; eke's exact inversion at most "
        f"{1e3 * max(c.exact for c in (*by_m, *by_n)):.1f} ms",
    )
    return result


def _ends(series: list[Cost], method: str) -> str:
    first, last = (1e3 * float(getattr(c, method)) for c in (series[0], series[-1]))
    return f"{first:.3g} to {last:.3g} ms"


def figure_7(report: Report) -> dict[str, Any]:
    """Time and error of PC against β: as printed, and as eke sets it by default."""
    generator = np.random.default_rng([report.seed, 7])
    m, n = (300, 60) if report.quick else (1000, 100)
    wanted = 10.0 ** np.arange(2.0, 6.1 if report.quick else 7.6, 0.5)
    base = composed_noise(m, n, generator)
    result = []
    for target in wanted:
        noise = with_beta(base, float(target))
        printed = paper_convolution(noise)
        finer = eke_convolution(noise)
        result.append(
            {
                "beta": float(target),
                "seconds": processor_seconds(partial(paper_convolution, noise), repeats=2),
                "error": convolution_error(printed),
                "eke_seconds": processor_seconds(partial(eke_convolution, noise), repeats=2),
                "eke_error": convolution_error(finer),
                "eke_step": finer.mass.step,
            }
        )
    report.table(
        f"Fig. 7: PC against β (m = {m}, n = {n}, γ = {GAMMA}, so γ² = {GAMMA**2:g})",
        ["β", "printed: ms", "printed: error", "finer cells, FFT: ms", "error", "cell"],
        [
            (
                *(r["beta"], 1e3 * r["seconds"], r["error"]),
                *(1e3 * r["eke_seconds"], r["eke_error"], r["eke_step"]),
            )
            for r in result
        ],
    )
    x = [r["beta"] for r in result]
    printed_label, finer_label = "PC as printed, cells of 1", "PC in eke, finer cells and FFT"
    save_grid(
        report.picture("figure7"),
        [
            [
                Panel(
                    [
                        Line(printed_label, x, [1e3 * r["seconds"] for r in result], "o"),
                        Line(finer_label, x, [1e3 * r["eke_seconds"] for r in result], "^"),
                    ],
                    "β", "milliseconds", "time", xlog=True, ylog=True,
                ),
                Panel(
                    [
                        Line(printed_label, x, [r["error"] for r in result], "o"),
                        Line(finer_label, x, [r["eke_error"] for r in result], "^"),
                        Line("the paper's bound γ²", x, [GAMMA**2] * len(x)),
                    ],
                    "β", "error (Def. 4.2)", "error", xlog=True, ylog=True,
                ),
            ]
        ],
    )  # fmt: skip
    report.keep("figure7", result)
    over = [r["beta"] for r in result if r["error"] > GAMMA**2]
    report.says(
        "7",
        f"time of PC rises with β; its error does not exceed γ² = {GAMMA**2:g}",
        f"{1e3 * result[0]['seconds']:.2g} ms at β = {result[0]['beta']:g} to "
        f"{1e3 * result[-1]['seconds']:.3g} ms at {result[-1]['beta']:.2g}. The error of the "
        f"printed "
        f"cells of width one exceeds γ² at {len(over)} of {len(result)} values of β"
        + (f", up to {max(over):.2g}" if over else "")
        + f" ({max(r['error'] for r in result):.2g} at the worst): noises narrower than a cell are "
        f"lost. With finer cells it is at most {max(r['eke_error'] for r in result):.1e}",
    )
    return {"points": result}


def figure_8(report: Report) -> dict[str, Any]:
    """Time and error of MC against the sample size."""
    generator = np.random.default_rng([report.seed, 8])
    m, n = (100, 50) if report.quick else (200, 100)
    sizes = [50_000, 200_000] if report.quick else list(range(100_000, 1_000_001, 100_000))
    noise = composed_noise(m, n, generator)
    result = []
    for size in sizes:
        drawn: list[MonteCarloPosterior] = []

        def draw(size: int = size, drawn: list[MonteCarloPosterior] = drawn) -> None:
            drawn.append(MonteCarloPosterior(0.0, noise, size, generator))

        seconds = processor_seconds(draw, repeats=2)
        masses = [posterior.mass().masses for posterior in drawn]
        exact = [exact_masses(noise, len(u)).masses for u in masses]
        peak = float(masses[-1].max())
        result.append(
            {
                "sample_size": size,
                "seconds": seconds,
                "error": float(
                    np.mean([mass_error(u, v) for u, v in zip(masses, exact, strict=True)])
                ),
                "expected": float((exact[-1] * (1.0 - exact[-1])).sum() / size),
                "bound": len(masses[-1]) / (size - 1) * peak * (1.0 - peak),
            }
        )
    report.table(
        f"Fig. 8: MC against the sample size (m = {m}, n = {n})",
        ["m_s", "seconds", "error", "its expectation", "bound of Cor. 4.1"],
        [[r["sample_size"], r["seconds"], r["error"], r["expected"], r["bound"]] for r in result],
    )
    x = [r["sample_size"] for r in result]
    save_grid(
        report.picture("figure8"),
        [
            [
                Panel(
                    [Line("MC", x, [r["seconds"] for r in result], "o")],
                    "m_s", "seconds", "time", ylim=(0.0, 1.1 * max(r["seconds"] for r in result)),
                ),
                Panel(
                    [
                        Line("MC", x, [r["error"] for r in result], "o"),
                        Line("expectation", x, [r["expected"] for r in result]),
                        Line("bound of Cor. 4.1", x, [r["bound"] for r in result]),
                    ],
                    "m_s", "error (Def. 4.2)", "error", ylog=True,
                ),
            ]
        ],
    )  # fmt: skip
    report.keep("figure8", result)
    first, last = result[0], result[-1]
    report.says(
        "8",
        "time of MC grows and its error falls with the sample size",
        f"{first['seconds']:.2g} s and {first['error']:.1e} at {first['sample_size']:,} draws, "
        f"{last['seconds']:.2g} s and {last['error']:.1e} at {last['sample_size']:,}; the bound of "
        f"Corollary 4.1 is {min(r['bound'] / r['error'] for r in result):.1f} times the error or "
        f"more",
    )
    return {"points": result}
