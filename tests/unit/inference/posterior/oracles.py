"""Independent ways to the same probabilities, none of which shares a line with the package."""

from __future__ import annotations

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np

DIGITS = 120


def precise_tail(laplace_scales, gaussian_variance: float, x: float):
    """Pr(e > x) for *distinct* Laplace scales, in closed form with 120 digits.

    Partial fractions turn Π 1/(1 + w_i²t²) into Σ A_i/(1 + w_i²t²) with
    A_i = Π_{j≠i} w_i²/(w_i² − w_j²), so the law of e is a signed mixture of single Laplace laws,
    each plus the same Gaussian, whose tail has a closed form.
    """
    with mp.workdps(DIGITS):
        scales = [mp.mpf(float(w)) for w in laplace_scales]
        total = mp.mpf(0)
        for i, w in enumerate(scales):
            weight = mp.mpf(1)
            for j, other in enumerate(scales):
                if j != i:
                    weight *= w * w / (w * w - other * other)
            total += weight * _one_laplace(w, mp.mpf(gaussian_variance), mp.mpf(x))
        return total


def _one_laplace(w, variance, x):
    """Pr(L + G > x) with L Laplace of scale w and G Gaussian, for x ≥ 0."""
    if variance == 0:
        return mp.exp(-x / w) / 2
    deviation = mp.sqrt(variance)

    def upper(z):
        return mp.erfc(z / mp.sqrt(2)) / 2

    near = mp.exp(-x / w) * upper(deviation / w - x / deviation)
    far = mp.exp(x / w) * upper(deviation / w + x / deviation)
    return upper(x / deviation) + mp.exp(variance / (2 * w * w)) / 2 * (near - far)


def equal_laplace_density(count: int, laplace_scale: float, z: float):
    """The density of a sum of `count` equal Laplace noises: BAYES eq. 23, integrated by mpmath."""
    alpha, size = 1 / mp.mpf(laplace_scale), abs(mp.mpf(z))
    power = count - 1
    integral = mp.quad(
        lambda v: v**power * (size + v / (2 * alpha)) ** power * mp.exp(-v),
        [0, 5, 20, 60, 200, mp.inf],
    )
    constant = alpha**count / (2**count * mp.gamma(count) ** 2)
    return constant * mp.exp(-alpha * size) * integral


def fourier_central(noise, x: float) -> float:
    """Pr(|e| ≤ x) = (2/π)·∫ φ(t)·sin(t·x)/t dt by a double exponential rule, to about 1e-13.

    T. Ooura and M. Mori, "A robust double exponential formula for Fourier-type integrals" (1999),
    with t = M·ψ(u)/x, ψ(u) = u/(1 − exp(−2u − α(1 − e⁻ᵘ) − β(eᵘ − 1))) and M·h = π: the nodes run
    doubly exponentially into the zeros of sin. The accuracy is absolute, not relative.
    """
    M = 40.0
    h, beta = math.pi / M, 0.25
    alpha = beta / math.sqrt(1.0 + M * math.log1p(M) / (4.0 * math.pi))
    k = np.arange(-76, 77)
    u = np.where(k == 0, 1.0, h * k)  # ψ(0) is a limit, filled in below
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = 2.0 * u - alpha * np.expm1(-u) + beta * np.expm1(u)
        slope_of_exponent = 2.0 + alpha * np.exp(-u) + beta * np.exp(u)
        gap = -np.expm1(-exponent)
        psi = u / gap
        slope = 1.0 / gap - u * np.exp(-exponent) * slope_of_exponent / gap**2
    first = 2.0 + alpha + beta
    psi[k == 0], slope[k == 0] = 1.0 / first, 0.5 - 0.5 * (beta - alpha) / first**2
    keep = np.isfinite(psi) & np.isfinite(slope) & (psi > 0.0)
    t = M * psi[keep] / x
    terms = noise.characteristic(t) * np.sin(M * psi[keep]) / t * slope[keep]
    return float(2.0 / math.pi * (M * h / x) * terms.sum())
