"""Whatever form an address with a password has, it is refused in words that do not hold the password."""

import shlex

import pytest

import dagora
from dagora.base.addresses import LEFT_OUT, refuse_password, without_secrets
from dagora.base.errors import OptionError
from dagora.cli.command_line import answering, command_line

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
    " postgresql://ada:hunter2@localhost/shop",
    "'postgresql://ada:hunter2@localhost/shop'",
    "postgresql:ada:hunter2@localhost/shop",
    "jdbc:postgresql://localhost/shop?user=ada&password=hunter2",
    "jdbc:postgresql://ada:hunter2@localhost/shop",
    "service=shop password=hunter2",
    "sslmode=require application_name='a b' password='hunter2'",
    "duckdb:md:shop?motherduck_token=hunter2",
    "postgresql://ada%40x:hunter2@localhost/shop",
    "postgresql://localhost/shop?pgpassword=hunter2",
    "postgresql://localhost/shop#password=hunter2",
    "postgresql://localhost/shop?%2570assword=hunter2",
    "https://bucket.s3.amazonaws.com/rows.parquet?X-Amz-Date=2&X-Amz-Signature=hunter2",
    "s3://bucket/rows.parquet?X-Amz-Security-Token=hunter2",
    "https://storage.googleapis.com/b/rows.csv?X-Goog-Signature=hunter2",
    "https://account.blob.core.windows.net/c/rows.csv?sp=r&sig=hunter2",
    "https://d1.cloudfront.net/rows.csv?Expires=1&Signature=hunter2&Key-Pair-Id=K",
)
WITHOUT = (
    "postgresql://ada@localhost:5432/shop?sslmode=require",
    "tcp://127.0.0.1:8786",
    "patients@home.csv",
    "SELECT password FROM users WHERE a = 1",
    "duckdb:shop.db",
    "year=2024/token=3/part.parquet",
    "sig=1/signature=2/part.parquet",
    "service=shop user=ada",
    "jdbc:postgresql://localhost:5432/shop?user=ada",
)
SCHEDULERS = (
    "ada:hunter2@127.0.0.1:1",
    "tcp://127.0.0.1:1?key=hunter2",
    "tcp://127.0.0.1:1/#hunter2",
    "a hunter2",
)
SECRETS = (
    "SELECT * FROM dblink('host=h password=hunter2 dbname=x', 'SELECT 1') AS t(a int)",
    "SELECT * FROM dblink('password=''it\\''s hunter2'' host=h', 'SELECT 1') AS t(a int)",
    "SELECT * FROM dblink('host=h password=a)b;c,hunter2', 'SELECT 1') AS t(a int)",
    "SELECT * FROM f(password => 'hunter2')",
    "SELECT * FROM f(db_password := 'hunter2')",
    'SELECT * FROM f(\'{"password": "hunter2"}\')',
    "SELECT * FROM postgres_scan('postgresql://ada:p@hunter2@h/x', 'public', 't')",
    "SELECT * FROM postgres_scan('postgresql://ada:p/hunter2@h/x', 'public', 't')",
    "SELECT * FROM 'https://h/rows.csv?access_token=hunter2&part=3'",
    "SELECT a FROM t WHERE password = 'hunter2' AND b = 1",
    "SELECT * FROM 'https://b.s3.amazonaws.com/rows.parquet?X-Amz-Date=2&X-Amz-Signature=hunter2'",
    "SELECT * FROM read_csv('https://a.blob.core.windows.net/c/rows.csv?sp=r&sig=hunter2')",
    "SELECT * FROM read_csv('https://a.blob.core.windows.net/c/rows.csv?sp=r&%73ig=hunter2')",
)
PLAIN = (
    "SELECT password, a FROM t WHERE b = 'x@y' AND c ~ 'd:e'",
    "SELECT * FROM 'https://h/rows.csv?part=3' WHERE a = 1",
    "SELECT a, sig FROM t WHERE sig = 1 AND signature='x'",
    "SELECT a FROM t WHERE b LIKE '100%' OR b LIKE '%20%'",
)


@pytest.mark.every_case
@pytest.mark.parametrize("address", WITH)
def test_a_password_is_refused_and_not_repeated(address, capsys):
    from dagora.cli.main import run

    for attempt in (refuse_password, dagora.open_rows, dagora.learn):
        with pytest.raises(OptionError, match="must not hold a password") as told:
            attempt(address)
        assert "hunter2" not in str(told.value)
    for line in (["learn", address], ["learn", "none.csv", f"--dask={address}"], ["inspect", address]):
        assert run(line) == 2
        said = capsys.readouterr()
        assert "hunter2" not in said.out + said.err
        assert said.err.count("\n") == 1


@pytest.mark.parametrize("address", SCHEDULERS)
def test_odd_addresses_of_a_cluster_are_not_repeated(address, capsys):
    pytest.importorskip("distributed", reason="needs the extra dask")
    from dagora.cli.main import run

    with pytest.raises(OptionError, match="has a host and a port only") as told:
        dagora.bootstrap("none.csv", dask=address)
    assert "hunter2" not in str(told.value)
    for line in (["learn", "none.csv"], ["sample", "none.csv"], ["score", "none.csv", "-o", "none.jkl"]):
        assert run([*line, "--dask", address]) == 2
        said = capsys.readouterr()
        assert "hunter2" not in said.out + said.err
        assert said.err.count("\n") == 1


@pytest.mark.every_case
@pytest.mark.parametrize("query", [*SECRETS, *PLAIN])
def test_a_query_that_may_hold_a_password_does_not_stand_in_the_command(query):
    shown = LEFT_OUT if query in SECRETS else query
    assert without_secrets(query) == shown
    for given in (["--query", query], [f"--query={query}"]):
        with answering(["learn", "duckdb:shop.db", *given, "-o", "password=x.json"]):
            line = command_line()
        assert "hunter2" not in line
        assert shlex.split(line)[-2:] == ["-o", "password=x.json"]
        assert shlex.split(line)[-3].removeprefix("--query=") == shown


@pytest.mark.every_case
@pytest.mark.parametrize("address", WITHOUT)
def test_other_texts_pass(address):
    refuse_password(address)
