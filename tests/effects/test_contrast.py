"""What an effect compares: what is chosen where nothing is said, and what is refused."""

import numpy as np
import pytest

from dagora.base.errors import DagoraError
from dagora.effects.contrast import read_contrast
from tests.effects.exact_rows import table_of

TABLE = table_of(
    drug=["yes", "no"] * 10,
    dose=np.linspace(0, 10, 20),
    stage=["early", "late", "mid", "late"] * 5,
    weight=np.linspace(50, 90, 20),
)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("drug", "weight"), "drug=yes instead of no, on the mean of weight"),
        (("dose", "weight"), "dose one unit larger, on the mean of weight"),
        (("dose", "weight", [3, 1]), "dose=3 instead of 1, on the mean of weight"),
        (("dose", "drug"), "dose=7.5 instead of 2.5, on P(drug=yes)"),
        (("drug", "stage=late"), "drug=yes instead of no, on P(stage=late)"),
        (("stage", "weight", ["late", "mid"]), "stage=late instead of mid, on the mean of weight"),
        (
            (["drug", "dose"], "weight", {"dose": [1, 1]}),
            "drug=yes instead of no and dose=1 instead of 1, on the mean of weight",
        ),
    ],
)
def test_what_is_compared(asked, words):
    assert read_contrast(TABLE, *asked).to_text() == words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("drug", "drug"), "'drug' cannot be both set and the outcome"),
        (
            ("rug", "weight"),
            "there is no column named 'rug': did you mean 'drug'? known are drug, dose, stage, weight",
        ),
        (("drug", "waist"), "there is no column named 'waist'"),
        (([], "weight"), "an effect needs at least one variable that is set"),
        (("drug", "stage"), "'stage' has 3 levels: say which counts"),
        (("drug", "stage=none"), "'stage' has no level 'none': known are early, late, mid"),
        (("drug", "weight", None, "90"), "'weight' is continuous: its mean is looked at"),
        (("stage", "weight"), "'stage' has 3 levels: say which two to compare"),
        (("stage", "weight", ["late"]), "levels takes two values of 'stage'"),
        (("drug", "weight", ["yes", "maybe"]), "'drug' has no level 'maybe'"),
        (("drug", "weight", ["yes", "yes"]), "'drug' is compared with itself"),
        (("dose", "weight", ["much", "0"]), "'dose' is continuous: 'much' is no value of it"),
        (("dose", "weight", [float("inf"), 0]), "'dose' cannot be set to inf"),
        (("dose", "weight", {"drug": ["yes", "no"]}), "levels names 'drug', which is not set"),
        (
            (["drug", "dose"], "weight", ["yes", "no"]),
            "2 variables are set: give levels for each by its name",
        ),
        (("drug", "weight", None, None, {"drug": "yes"}), "'drug' cannot be given"),
        (("drug", "weight", None, None, {"dose": "1"}), "'dose' is continuous: an effect is given levels"),
        (("drug", "weight", None, None, {"stage": "none"}), "'stage' has no level 'none'"),
    ],
)
def test_bad_questions_get_one_line(asked, words):
    with pytest.raises(DagoraError) as caught:
        read_contrast(TABLE, *asked)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
