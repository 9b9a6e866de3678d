"""NAME=VALUE on the command line."""

import pytest

from dagora import OptionError
from dagora.cli.written_options import parse_options


def test_values_have_the_types_that_are_declared() -> None:
    assert parse_options(None, "bdeu", ("ess=10",)) == {"ess": 10.0}
    assert parse_options("hill-climb", "bdeu", ("ess=2.5", "restarts=3")) == {"ess": 2.5, "restarts": 3}


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (("ess",), "--option takes NAME=VALUE, not 'ess'"),
        (("=3",), "--option takes NAME=VALUE, not '=3'"),
        (("ess=1", "ess=2"), "--option gives 'ess' twice"),
        (("nothing=1",), "there is no option 'nothing' for the score"),
        (("ess=-1",), "ess"),
        (("ess=many",), "ess"),
    ],
)
def test_mistakes_are_told(written: tuple[str, ...], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        parse_options(None, "bdeu", written)


def test_whose_option_is_missing_and_what_is_known() -> None:
    with pytest.raises(OptionError, match=r"for the method ges or its score \(known: .*ess"):
        parse_options("ges", "bdeu", ("nothing=1",))


def test_an_option_of_another_score_is_not_taken() -> None:
    with pytest.raises(OptionError, match="there is no option 'ess'"):
        parse_options(None, "bic", ("ess=1",))
