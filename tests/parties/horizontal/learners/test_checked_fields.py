"""A site takes of a question exactly what its task asks for."""

import numpy as np
import pytest

from dagora import ProtocolError
from dagora.parties.horizontal.learners import checked_fields


@pytest.mark.parametrize(
    "value",
    [
        [1.0, 2.0],
        np.zeros(2, dtype=np.float32),
        np.zeros(3),
        np.array([0.0, np.nan]),
        np.array([np.inf, 0.0]),
    ],
)
def test_reals_of_another_kind_shape_or_size_are_refused(value) -> None:
    with pytest.raises(ProtocolError, match=r"^refused: in the question 'task', 'w' must be "):
        checked_fields.reals("task", {"w": value}, "w", (2,))


def test_arrays_are_the_sites_own() -> None:
    sent, flags = np.array([1.0, 2.0]), np.array([True, False])
    kept = checked_fields.reals("task", {"w": sent}, "w", (2,))
    mask = checked_fields.truths("task", {"w": flags}, "w", (2,))
    sent[0], flags[0] = 9.0, False
    assert kept.tolist() == [1.0, 2.0]
    assert mask.tolist() == [True, False]


@pytest.mark.parametrize("value", [np.zeros(2), np.zeros(3, dtype=bool), [True, False]])
def test_other_things_than_truths_are_refused(value) -> None:
    with pytest.raises(ProtocolError, match="must be an array of booleans"):
        checked_fields.truths("task", {"w": value}, "w", (2,))


def test_a_number_has_bounds() -> None:
    def take(value, **bounds):
        return checked_fields.real("task", {"rho": value}, "rho", **bounds)

    assert take(0.0) == 0.0
    assert take(2.0, high=2.0) == 2.0
    for value, bounds in [
        (-0.1, {}),
        (2.1, {"high": 2.0}),
        (0.0, {"open_low": True}),
        (np.inf, {}),
        (np.nan, {}),
        (1, {}),
    ]:
        with pytest.raises(ProtocolError, match="must be a finite number"):
            take(value, **bounds)


def test_a_whole_number_is_no_truth_and_has_bounds() -> None:
    assert [checked_fields.whole("task", {"n": n}, "n", 1, 3) for n in (1, 3)] == [1, 3]
    for value in (0, 4, True, 2.0):
        with pytest.raises(ProtocolError, match="whole number from 1 to 3"):
            checked_fields.whole("task", {"n": value}, "n", 1, 3)


def test_a_word_is_one_of_those_listed() -> None:
    assert checked_fields.choice("task", {"loss": "l2"}, "loss", ("l2", "logistic")) == "l2"
    for value in ("l1", 2):
        with pytest.raises(ProtocolError, match="must be one of l2, logistic"):
            checked_fields.choice("task", {"loss": value}, "loss", ("l2", "logistic"))


def test_fields_are_exactly_those_expected() -> None:
    checked_fields.check_names("task", {"a": 1}, {"a"})
    for question in ({}, {"a": 1, "b": 2}, {"b": 1}):
        with pytest.raises(ProtocolError, match=r"the fields must be a$"):
            checked_fields.check_names("task", question, {"a"})


def test_an_answer_that_overflowed_is_kept_back() -> None:
    assert checked_fields.finite_answer("task", {"x": np.ones(2)})["x"].tolist() == [1.0, 1.0]
    with pytest.raises(ProtocolError, match="too large to compute with"):
        checked_fields.finite_answer("task", {"x": np.ones(2), "y": np.array([np.inf])})


def test_the_site_with_a_wrong_answer_is_named() -> None:
    good = {"w": np.zeros(2)}
    assert list(checked_fields.collect_reals({"west": good, "east": good}, "w", (2,))) == ["east", "west"]
    for bad in ({}, {"w": np.zeros(3)}, {"w": np.zeros(2, dtype=bool)}, {"w": np.array([np.nan, 0.0])}):
        with pytest.raises(ProtocolError, match=r"^west did not answer with finite numbers") as caught:
            checked_fields.collect_reals({"west": bad, "east": good}, "w", (2,))
        assert caught.value.party == "west"
    with pytest.raises(ProtocolError, match="booleans"):
        checked_fields.collect_truths({"east": good}, "w", (2,))
