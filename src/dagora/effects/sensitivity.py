"""Sensitivity of an effect: the strength that a hidden common cause needs to explain it away.

Linear effects (Cinelli & Hazlett 2020): with t the t value of x's coefficient and d the residual degrees of
freedom, f = |t| / √d. A hidden cause that explains the share RV of what is left of the variance of x, and of
y, given the adjustment set, takes away the share q of the estimate:

    RV = (√(g⁴ + 4 g²) − g²) / 2    with g = q f

The same with g = q f − f*, where f* = t_{1 − alpha/2, d − 1} / √(d − 1), makes the estimate insignificant.

Risk ratios (VanderWeele & Ding 2017): the E-value, RR + √(RR (RR − 1)), is the least risk ratio that a hidden
cause needs with both x and y. Ratios below 1 are inverted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from dagora.base.errors import OptionError

SIGNIFICANCE = 0.05  # of 95 % intervals


class EValues(NamedTuple):
    """E-values of a risk ratio, and of the bound of its interval nearer to 1: 1 if the interval holds 1."""

    estimate: float
    bound: float


@dataclass(frozen=True)
class HiddenCause:
    """The strength of a hidden common cause of x and y that explains the effect, or its significance, away.

    `shares` are of the remaining variance of x and of y; `ratios` are risk ratios with x and with y.
    """

    shares: tuple[float, float] | None = None
    ratios: EValues | None = None

    @classmethod
    def of_slope(cls, t: float, freedom: int, *, holds_zero: bool = False) -> HiddenCause:
        """That of a linear effect, from the usual t value of the coefficient.

        `holds_zero` says that the interval holds zero already, with other standard errors.

        >>> HiddenCause.of_slope(4.18, 783).to_text()
        'to explain it away, a hidden common cause must explain 13.9 % of what is left of the variances of x \
and y; 7.61 % for an interval that holds zero'
        """
        open_ = 0.0 if holds_zero else robustness_value(t, freedom, alpha=SIGNIFICANCE)
        return cls(shares=(robustness_value(t, freedom), open_))

    def to_text(self) -> str:
        """One sentence."""
        if self.shares is not None:
            away, open_ = (f"{100 * share:.3g} %" for share in self.shares)
            return (
                f"to explain it away, a hidden common cause must explain {away} of what is left of the "
                f"variances of x and y; {open_} for an interval that holds zero"
            )
        if self.ratios is not None:
            return (
                "to explain it away, a hidden common cause must have a risk ratio of "
                f"{self.ratios.estimate:.3g} with x and with y; {self.ratios.bound:.3g} for an interval that "
                "holds one"
            )
        return ""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "robustness_value": None if self.shares is None else list(self.shares),
            "e_value": None if self.ratios is None else list(self.ratios),
        }


def partial_r2(t: float, freedom: float) -> float:
    """The share of the outcome's remaining variance that a coefficient explains.

    >>> round(partial_r2(4.18, 783), 3)
    0.022
    """
    require_t(t, freedom)
    return t * t / (t * t + freedom)


def robustness_value(t: float, freedom: float, q: float = 1.0, alpha: float | None = None) -> float:
    """The share of remaining variance, of x and of y, that a hidden cause must explain.

    Parameters
    ----------
    t : float
        The coefficient divided by its standard error, the usual one of least squares.
    freedom : float
        Residual degrees of freedom: rows less columns of the regression, the constant included.
    q : float, default 1
        The share of the estimate that is taken away; 1 is all of it.
    alpha : float, optional
        Instead, the share that makes the rest insignificant at this level.

    Examples
    --------
    >>> round(robustness_value(4.18, 783), 3), round(robustness_value(4.18, 783, alpha=0.05), 3)
    (0.139, 0.076)
    """
    require_t(t, freedom)
    if not 0 < q < math.inf:
        raise OptionError(option="q", value=q, must="be a number above 0")
    strength = q * abs(t) / math.sqrt(freedom)
    if alpha is None:
        return balanced_share(strength)
    if not 0 < alpha < 1:
        raise OptionError(option="alpha", value=alpha, must="be a number between 0 and 1")
    if freedom <= 1:
        return 0.0
    from scipy.special import stdtrit

    critical = float(stdtrit(freedom - 1, 1 - alpha / 2)) / math.sqrt(freedom - 1)
    if strength <= critical:
        return 0.0
    if strength * critical > 1:  # a cause that explains no more of y than x lets it
        return (strength**2 - critical**2) / (1 + strength**2)
    return balanced_share(strength - critical)


def balanced_share(strength: float) -> float:
    """The share R² with R² / √(1 − R²) = strength."""
    square = strength * strength
    return 2 / (1 + math.sqrt(1 + 4 / square)) if square > 0 else 0.0


def e_value(ratio: float) -> float:
    """The E-value of a risk ratio.

    >>> round(e_value(3.9), 2), round(e_value(1 / 3.9), 2), e_value(1)
    (7.26, 7.26, 1.0)
    """
    if not 0 < ratio < math.inf:
        raise OptionError(option="ratio", value=ratio, must="be a number above 0")
    above = max(ratio, 1 / ratio)
    return above + math.sqrt(above * (above - 1))


def e_values(ratio: float, low: float, high: float) -> EValues:
    """The E-values of a risk ratio with its interval.

    >>> [round(value, 2) for value in e_values(3.9, 1.8, 8.7)]
    [7.26, 3.0]
    """
    if not low <= ratio <= high:
        raise OptionError(option="ratio", value=ratio, must=f"be in its interval, {low} to {high}")
    if low <= 1 <= high:
        return EValues(e_value(ratio), 1.0)
    return EValues(e_value(ratio), e_value(low if ratio > 1 else high))


def require_t(t: float, freedom: float) -> None:
    """Refuse what is no t value."""
    if not math.isfinite(t):
        raise OptionError(option="t", value=t, must="be a finite number")
    if not 0 < freedom < math.inf:
        raise OptionError(option="freedom", value=freedom, must="be a number above 0")
