"""Whatever form an address with a password has, it is refused in words that do not hold the password."""

import pytest

import dagora
from dagora.addresses import refuse_password
from dagora.errors import OptionError

WITH = (
    "postgresql://ada:hunter2@localhost/shop",
    "postgresql+psycopg2://ada:hunter2@localhost/shop",
    "POSTGRES://ada:hunter2@localhost",
    "postgresql://ada%3Ahunter2@localhost/shop",
    "postgresql://ada:hunter2/with/slashes@localhost/shop",
    "postgresql://ada@localhost/shop?host=x&password=hunter2?more",
    "postgresql://ada@localhost/shop?sslPassword=hunter2",
    "postgresql://ada@localhost/shop;password=hunter2",
    "tcp://ada:hunter2@127.0.0.1:8786",
    "host=localhost password=hunter2",
    "password = hunter2 host=localhost",
)
WITHOUT = (
    "postgresql://ada@localhost:5432/shop?sslmode=require",
    "tcp://127.0.0.1:8786",
    "patients@home.csv",
    "SELECT password FROM users WHERE a = 1",
    "duckdb:shop.db",
)


@pytest.mark.parametrize("address", WITH)
def test_a_password_is_refused_and_not_repeated(address, capsys):
    from dagora.cli import run

    for attempt in (refuse_password, dagora.open_rows, dagora.learn):
        with pytest.raises(OptionError, match="must not hold a password") as told:
            attempt(address)
        assert "hunter2" not in str(told.value)
    for line in (["learn", address], ["learn", "none.csv", f"--dask={address}"], ["inspect", address]):
        assert run(line) == 2
        said = capsys.readouterr()
        assert "hunter2" not in said.out + said.err
        assert said.err.count("\n") == 1


@pytest.mark.parametrize("address", WITHOUT)
def test_other_texts_pass(address):
    refuse_password(address)
