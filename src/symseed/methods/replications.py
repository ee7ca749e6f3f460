"""The paper's method with the rules of its authors' code, one by one and together."""

from __future__ import annotations

from dataclasses import replace

from symseed.methods.method import (
    EVOLUTION,
    GUIDED,
    NGGP,
    VARIATION,
    Method,
    varied,
)
from symseed.scoring import FitMethod, FitSettings, RegressionSettings, Validity


def replications() -> list[Method]:
    """The known differences from the authors' code, one by one, and all of its release of December 2021 together."""
    any_parent = replace(VARIATION, any_parent=True)
    # As many steps as SciPy allows a formula with the paper's three constants.
    bfgs = FitSettings(iterations=600, method=FitMethod.BFGS_FROM_ONES)
    return [
        Method(
            "nggp-even-seeds",
            f"{GUIDED} whose first generation draws parents evenly, as the paper's released code does.",
            replace(NGGP, evolution=replace(EVOLUTION, selects_seeds=False)),
        ),
        Method(
            "nggp-random-parent",
            f"{GUIDED} in which a crossed formula that breaks a rule becomes a random one of its parents, as in the "
            "paper's released code.",
            varied(any_parent),
        ),
        Method(
            "nggp-whole-rounds",
            f"{GUIDED} that notices a solution at the end of a round only, as the paper's released code does.",
            replace(NGGP, whole_rounds=True),
        ),
        Method(
            "nggp-flags",
            f"{GUIDED} in which an overflow, an underflow or a division by 0 in any part makes a formula worthless, "
            "as in the paper's released code.",
            scoring=RegressionSettings(validity=Validity.FLAGS),
        ),
        Method(
            "nggp-answer-only",
            f"{GUIDED} in which the parts of a formula may be infinite, as in an earlier version of the paper's code.",
            scoring=RegressionSettings(validity=Validity.ANSWER),
        ),
        Method(
            "nggp-bfgs",
            f"{GUIDED} whose constants are fitted by BFGS, each time from 1, as in the paper's released code.",
            scoring=RegressionSettings(fit=bfgs),
        ),
        Method(
            "nggp-protected",
            f"{GUIDED} with operators that have a value for every argument, such as 1 for a division by 0.",
            protected=True,
        ),
        Method(
            "nggp-released",
            f"{GUIDED} with every known difference of the paper's released code: even selection of the first parents, "
            "random parents, whole rounds, floating-point flags, and BFGS.",
            replace(
                NGGP,
                evolution=replace(EVOLUTION, selects_seeds=False, variation=any_parent),
                whole_rounds=True,
            ),
            scoring=RegressionSettings(validity=Validity.FLAGS, fit=bfgs),
        ),
    ]
