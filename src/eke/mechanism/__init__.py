"""Noise as it is really drawn, and the wrapper from which exact answers leave only with noise."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.mechanism.noise import draw
    from eke.mechanism.secret import (
        Secret,
        choose_among_runs,
        choose_several_with_noise,
        choose_with_noise,
        refine_with_noise,
        reveal_with_noise,
    )

__all__ = [
    "Secret",
    "choose_among_runs",
    "choose_several_with_noise",
    "choose_with_noise",
    "draw",
    "refine_with_noise",
    "reveal_with_noise",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "noise": "draw",
            "secret": (
                "Secret choose_among_runs choose_several_with_noise choose_with_noise "
                "refine_with_noise reveal_with_noise"
            ),
        },
    )
