"""Who gives way where more come than there is room for."""

import time
from dataclasses import dataclass

from dagora.base.crowds import FAIR_SHARE, StageRoom, crowd_of, surplus, weakest


@dataclass(frozen=True)
class Caller:
    host: str
    since: float
    number: int = 0


def callers(host: str, number: int, age: float = 0.0) -> list[Caller]:
    now = time.monotonic()
    return [Caller(host, now - age - k / 1000, k) for k in range(number)]


def test_nobody_leaves_while_there_is_room() -> None:
    assert surplus(callers("a", 5), StageRoom(5, 2.0)) == []


def test_a_flood_gives_way_and_not_a_single_caller() -> None:
    single = callers("b", 1, age=100.0)
    leaving = surplus([*callers("a", FAIR_SHARE + 5), *single], StageRoom(FAIR_SHARE + 1, 2.0))
    assert len(leaving) == 5
    assert {caller.host for caller in leaving} == {"a"}


def test_sites_behind_a_router_are_no_flood() -> None:
    both = [*callers("a", FAIR_SHARE), *callers("b", 1)]
    assert crowd_of(both) == both
    flood = [*callers("a", FAIR_SHARE + 1), *callers("b", 1)]
    assert {caller.host for caller in crowd_of(flood)} == {"a"}


def test_the_oldest_leaves_once_it_had_its_time_and_before_that_anyone() -> None:
    old = callers("a", 5, age=3.0)
    assert weakest(old, 2.0) == min(old, key=lambda caller: caller.since)
    young = callers("a", 5, age=0.0)
    assert len({weakest(young, 60.0).number for _ in range(200)}) > 1
