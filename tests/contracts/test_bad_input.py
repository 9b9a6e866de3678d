"""Bad input, through the command: exit code 2, one clear line that names what is wrong, and no file left behind."""

import errno
import gzip
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dagora.cli.live_line import PROGRESS

DISCRETE = "a,b,c\n" + "no,low,x\nyes,high,y\n" * 20 + "no,high,y\nyes,low,x\n"
CONTINUOUS = "u,v\n" + "".join(
    f"{random.Random(i).gauss(0, 1)},{random.Random(-i - 9).gauss(0, 1)}\n" for i in range(40)
)

FILES: dict[str, str | bytes] = {
    "good.csv": DISCRETE,
    "numbers.csv": CONTINUOUS,
    "copies.csv": "u,v,w\n" + "".join(
        f"{line},{-2 * float(line.partition(',')[0])}\n" for line in CONTINUOUS.splitlines()[1:]
    ),
    "empty.csv": "",
    "blank.csv": "\n\n\n",
    "header.csv": "a,b,c\n",
    "row.csv": "a,b\nno,yes\n",
    "column.csv": "a\nno\nyes\n",
    "gap.csv": DISCRETE + "no,,x\n",
    "gap_number.csv": CONTINUOUS + "0.5,\n",
    "all_gaps.csv": "a,b\n,x\ny,\n",
    "infinite.csv": CONTINUOUS + "0.5,inf\n",
    "minus_infinite.csv": "u,v\n" + "0.25,-Infinity\n" * 2 + CONTINUOUS.partition("\n")[2],
    "twice.csv": "a,b,a\nno,yes,x\nno,yes,y\n",
    "nameless.csv": "a,,c\nno,yes,x\nno,yes,y\n",
    "ragged.csv": "a,b,c\nno,yes,x\nno,yes\nyes,no,y\n",
    "long.csv": "a,b\nno,yes\nno,yes,x\n",
    "quote.csv": 'a,b\nno,"yes\nno,yes\n',
    "levels.csv": "key,b\n" + "".join(f"k{i},{'no' if i % 2 else 'yes'}\n" for i in range(100_000)),
    "no_text.csv": b"a,b\ncaf\x81,yes\nth\x81,no\n",
    "no_text_late.csv": DISCRETE.encode() + b"caf\x81,low,x\n",
    "spoilt.csv": "u,v\n" + "".join(f"{i / 7},{i / 3}\n" for i in range(40)) + "0.5,n/a\n",
    "fixed.csv": "u,v\n" + "".join(f"{i / 7},4.5\n" for i in range(40)),
    "mixed.csv": "a,u\n" + "".join(f"{'no' if i % 3 else 'yes'},{i / 7}\n" for i in range(40)),
    "spaces.csv": "a b,c\n" + "no,x\nyes,y\n" * 20,
    "semicolons.csv": "a;b\nno;x\nyes;y\n",
    "wide.csv": ",".join(f"w{i}" for i in range(40)) + "\n" + (",".join("x" * 40) + "\n" + ",".join("y" * 40) + "\n") * 5,
    "table.xyz": DISCRETE,
    "noise.csv.gz": b"\x1f\x8b\x08 this is not gzip at all",
    "cut.csv.gz": gzip.compress(DISCRETE.encode() * 50)[:-20],
    "noise.parquet": b"PAR1 but not really",
    "noise.feather": b"ARROW1 but not really",
    "truth.json": '{"nodes": ["a", "b", "c"], "edges": [["a", "b"]]}',
    "numbers.json": '{"nodes": ["u", "v"], "edges": []}',
    "cyclic.json": '{"nodes": ["a", "b", "c"], "edges": [["a", "b"], ["b", "c"], ["c", "a"]]}',
    "stranger.json": '{"nodes": ["a", "b", "zebra"], "edges": [["a", "zebra"]]}',
    "unlisted.json": '{"nodes": ["a", "b", "c"], "edges": [["a", "zebra"]]}',
    "shapeless.json": '{"edges": "a to b"}',
    "broken.json": '{"nodes": ["a", "b"',
    "list.json": "[1, 2]",
    "latin.json": '{"nodes": ["café"], "edges": []}'.encode("latin-1"),
    "noise.json.gz": b"no gzip",
    "cyclic.dot": "digraph { a -> b -> c -> a }",
    "broken.dot": "digraph { a -> ",
    "plain.dot": "digraph { a -> b; c }",
    "cyclic.csv": ",a,b,c\na,0,1,0\nb,0,0,1\nc,1,0,0\n",
    "cyclic.bif": (
        "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\nvariable b { type discrete [ 2 ] { x, y }; }\n"
        "probability ( a | b ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }\n"
        "probability ( b | a ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }\n"
    ),
    "broken.bif": "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table 0.5",
    "sums.bif": "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table 0.5, 0.9; }\n",
    "broken.graphml": "<graphml><graph",
    "contradiction.json": '{"required": [["a", "b"]], "forbidden": [["a", "b"]]}',
    "circle.json": '{"required": [["a", "b"], ["b", "a"]]}',
    "two_ways.json": '{"required": [["u", "v"], ["v", "u"]]}',
    "backwards.json": '{"required": [["a", "b"]], "tiers": [["b"], ["a"]]}',
    "crowded.json": '{"required": [["a", "c"], ["b", "c"]], "max_parents": 1}',
    "two_tiers.json": '{"tiers": [["a"], ["a", "b"]]}',
    "unknown_variable.json": '{"forbidden": [["a", "zebra"]]}',
    "unknown_key.json": '{"prohibited": [["a", "b"]]}',
    "no_pairs.json": '{"required": ["ab"]}',
    "no_lists.json": '{"tiers": 3}',
    "number.json": '{"required": 3}',
    "null.json": '{"forbidden": null}',
    "edge.json": '{"required": [["a", "b"]]}',
    "numeric_tier.json": '{"tiers": [[1, 2]]}',
    "fraction.json": '{"max_parents": 1.5}',
    "wrong.jkl": "2\na 1\n-3.5 1 zebra\n",
}  # fmt: skip


@pytest.fixture(scope="session")
def bad_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder.csv").mkdir()
    (folder / "folder.json").mkdir()
    (folder / "folder.svg").mkdir()
    (folder / "folder.jkl").mkdir()
    return folder


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(file.relative_to(folder)): (file.stat().st_size, file.stat().st_mtime_ns)
        for file in folder.rglob("*")
    }


@pytest.fixture
def unchanged(bad_files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of bad files, as the current one; a test that leaves anything in it fails."""
    monkeypatch.chdir(bad_files)
    before = listing(bad_files)
    yield bad_files
    after = listing(bad_files)
    for name in sorted(after.keys() - before.keys(), reverse=True):
        (shutil.rmtree if (bad_files / name).is_dir() else Path.unlink)(bad_files / name)
    assert after == before, "a file was written"


def case(line: str, *mentions: str) -> object:
    return pytest.param(line.split(), mentions, id=line)


LEARN_DATA = [
    case("empty.csv", "empty.csv", "is empty"),
    case("blank.csv", "blank.csv", "is empty"),
    case("header.csv", "header.csv", "no rows"),
    case("row.csv", "1 row"),
    case("column.csv", "1 column"),
    case("gap.csv --missing error", "gap.csv", "'b'", "--missing"),
    case("gap_number.csv --missing error", "gap_number.csv", "'v'", "--missing"),
    case("gap_number.csv --missing level", "'v'", "--missing drop"),
    case("all_gaps.csv --missing drop", "all_gaps.csv", "no row is left"),
    case("infinite.csv", "infinite.csv", "'v'", "row 41"),
    case("minus_infinite.csv", "minus_infinite.csv", "'v'", "row 1:"),
    case("twice.csv", "twice.csv", "'a'"),
    case("nameless.csv", "nameless.csv", "column 2"),
    case("ragged.csv", "ragged.csv", "row 2"),
    case("long.csv", "long.csv", "row 2"),
    case("quote.csv", "quote.csv", "not closed"),
    case("levels.csv", "levels.csv", "'key'", "left out", "1 column"),
    case("no_text.csv", "no_text.csv", "UTF-8"),
    case("no_text_late.csv", "no_text_late.csv", "UTF-8"),
    case("spoilt.csv --missing error", "spoilt.csv", "'v'", "'n/a'"),
    case("not_there.csv", "not_there.csv", "no such file"),
    case("folder.csv", "folder.csv", "no file in this folder"),
    case("table.xyz", "table.xyz", ".csv"),
    case("noise.csv.gz", "noise.csv.gz"),
    case("cut.csv.gz", "cut.csv.gz"),
    case("noise.parquet", "noise.parquet"),
    case("noise.feather", "noise.feather"),
    case("wrong.jkl", "wrong.jkl"),
    case("fixed.csv --continuous v", "'v'", "constant"),
    case("mixed.csv --score bic", "'u'", "continuous", "--score bic-mixed"),
    case("mixed.csv --score bge", "'a'", "discrete"),
    case("good.csv --score bic-gaussian", "'a'", "discrete"),
    case("numbers.csv --score bdeu", "'u'", "continuous"),
    case("good.csv --discrete zebra", "'zebra'"),
    case("good.csv --continuous zebra", "'zebra'"),
    case("good.csv --continuous a", "'a'", "no number"),
    case("good.csv --discrete a --continuous a", "'a'"),
    case("good.csv --drop zebra", "'zebra'"),
    case("good.csv --drop a,b,c", "all columns"),
    case("good.csv --drop b,c", "1 column"),
    case("good.csv --missing ignore", "--missing", "'ignore'"),
    case("good.csv --separator ;;", "separator", "';;'"),
    case("numbers.csv --discretise thirds", "--discretise", "'thirds'"),
    case("numbers.csv --discretise mean --bins 3", "bins"),
    case("numbers.csv --discretise width --bins 1", "--bins"),
    case("numbers.csv --bins 3", "--bins", "--discretise"),
    # notears
    case("good.csv --method notears", "'a'", "discrete"),
    case("good.csv --method notears-mlp", "'a'", "discrete"),
    case("fixed.csv --continuous v --method notears", "'v'", "constant"),
    case("copies.csv --method notears", "'u'", "'w'", "equal up to scale"),
    case("gap_number.csv --method notears", "gap_number.csv", "'v'", "--missing"),
    case("infinite.csv --method notears", "infinite.csv", "'v'", "row 41"),
    case("numbers.csv --method notears --option lambda1=-1", "'lambda1'", "at least 0", "-1"),
    case("numbers.csv --method notears --option lambda1=nan", "'lambda1'", "not nan"),
    case("numbers.csv --method notears --option lambda1=inf", "'lambda1'", "finite"),
    case("numbers.csv --method notears --option lambda1=heavy", "'lambda1'", "'heavy'"),
    case("numbers.csv --method notears --option threshold=-0.3", "'threshold'", "-0.3"),
    case("numbers.csv --method notears --option threshold=inf", "'threshold'", "finite"),
    case("numbers.csv --method notears --option loss=huber", "'loss'", "'huber'", "profile"),
    case("numbers.csv --method notears --option loss=logistic", "'u'", "0 and 1", "logistic"),
    case("numbers.csv --method notears --option loss=poisson", "'u'", "no counts", "Poisson"),
    case("good.csv --method notears --option loss=poisson", "'a'", "no numbers", "Poisson"),
    case("good.csv --method notears --option loss=profile --option published=true", "loss=profile", "published=true"),
    case("good.csv --method notears --option loss=logistic --option standardise=true", "standardise", "logistic"),
    case("numbers.csv --method notears --option solver=path", "no option 'solver'", "published"),
    case("numbers.csv --method notears --option standardise=perhaps", "'standardise'", "'perhaps'"),
    case("numbers.csv --method notears --option disturbances=-1", "'disturbances'", "-1"),
    case("numbers.csv --method notears --max-parents 0", "notears cannot obey --max-parents"),
    case("numbers.csv --method notears-mlp --max-parents 0", "notears-mlp cannot obey --max-parents"),
    case("numbers.csv --method notears --score bic-gaussian", "notears", "takes no score"),
    case("numbers.csv --method notears --knowledge two_ways.json", "two_ways.json", "u → v → u"),
    case("numbers.csv --method notear", "'notear'", "did you mean 'notears'"),
    case("numbers.csv --method notears-mlp --option hidden=0", "'hidden'", "0"),
]  # fmt: skip


LEARN_OPTIONS = [
    case("--method hill-climbing", "'hill-climbing'", "did you mean 'hill-climb'"),
    case("--method zebra", "'zebra'", "tabu"),
    case("--score bix", "'bix'", "did you mean 'bic'"),
    case("--method tabu --option zebra=1", "'zebra'", "restarts"),
    case("--option restarts", "NAME=VALUE", "'restarts'"),
    case("--option restarts=3", "'restarts'", "hill-climb, tabu, obs have it"),
    case("--option =1", "--option", "'=1'"),
    case("--method tabu --option restarts=many", "'restarts'", "'many'"),
    case("--method tabu --option restarts=-1", "'restarts'", "-1"),
    case("--method tabu --option restarts=1.5", "'restarts'", "'1.5'"),
    case("--method tabu --option restarts=1 --option restarts=2", "'restarts'", "twice"),
    case("--option ess=3", "'ess'"),
    case("--score bdeu --option ess=0", "'ess'"),
    case("--score bdeu --option ess=nan", "'ess'"),
    case("--score bdeu --option ess=inf", "ess"),
    case("--score bdeu --option ess=lots", "'ess'", "'lots'"),
    case("--method tabu --option start=not_there.json", "not_there.json"),
    case("--method tabu --option start=cyclic.json", "cyclic.json", "has a cycle"),
    case("--method tabu --option start=stranger.json", "'zebra'"),
    case("--truth cyclic.json", "cyclic.json", "cycle: a → b → c → a"),
    case("--truth cyclic.dot", "cyclic.dot", "has a cycle"),
    case("--truth cyclic.csv", "cyclic.csv", "has a cycle"),
    case("--truth cyclic.bif", "cyclic.bif", "has a cycle"),
    case("--truth stranger.json", "stranger.json", "'zebra'"),
    case("--truth not_there.json", "not_there.json"),
    case("--truth broken.json", "broken.json"),
    case("--truth table.xyz", "table.xyz", "'.xyz'"),
    case("--method tabu --start truth.json -o truth.json", "truth.json is read and would be overwritten"),
    case(
        "--method tabu --option start=truth.json -o truth.json", "truth.json is read and would be overwritten"
    ),
    case("--knowledge edge.json -o edge.json", "edge.json is read and would be overwritten"),
    case("--knowledge contradiction.json", "contradiction.json", "a → b"),
    case("--knowledge circle.json", "circle.json", "a → b → a"),
    case("--knowledge backwards.json", "backwards.json", "a → b"),
    case("--knowledge crowded.json", "crowded.json", "'c'"),
    case("--knowledge crowded.json --max-parents 0", "crowded.json", "'c'"),
    case("--knowledge two_tiers.json", "two_tiers.json", "'a'"),
    case("--knowledge unknown_variable.json", "'zebra'"),
    case("--knowledge unknown_key.json", "unknown_key.json", "'prohibited'"),
    case("--knowledge no_pairs.json", "no_pairs.json", "required"),
    case("--knowledge no_lists.json", "no_lists.json", "tiers"),
    case("--knowledge number.json", "number.json", "'required'"),
    case("--knowledge null.json", "null.json", "'forbidden'"),
    case("--knowledge edge.json --max-parents 0", "'b'", "--max-parents"),
    case("--knowledge numeric_tier.json", "numeric_tier.json", "tiers"),
    case("--knowledge fraction.json", "fraction.json", "max_parents"),
    case("--knowledge list.json", "list.json"),
    case("--knowledge broken.json", "broken.json", "line 1: is not JSON"),
    case("--knowledge latin.json", "latin.json"),
    case("--knowledge not_there.json", "not_there.json"),
    case("--knowledge folder.json", "folder.json"),
    case("--time-limit 0", "--time-limit must be", "0"),
    case("--time-limit -3", "--time-limit must be", "-3"),
    case("--time-limit nan", "--time-limit must be", "nan"),
    case("--time-limit soon", "--time-limit", "'soon'"),
    case("--seed -1", "--seed", "-1"),
    case("--seed 1.5", "--seed", "'1.5'"),
    case("--seed luck", "--seed", "'luck'"),
    case("--max-parents -1", "--max-parents", "-1"),
    case("--jobs 0", "--jobs", "0"),
    case("--zebra", "--zebra"),
    case("more.csv", "more.csv"),
    case("--output out.xyz", "out.xyz", "'.xyz'"),
    case("--output out", "out", "no extension"),
    case("--output nowhere/out.json", "nowhere/out.json", "no folder"),
    case("--output good.csv/out.json", "good.csv/out.json"),
    case("--output folder.json", "folder.json", "is a folder"),
    case("--picture out.png", "out.png", ".svg"),
    case("-o out.json --picture nowhere/out.svg", "nowhere/out.svg", "no folder"),
    case("-o out.json --picture folder.svg", "folder.svg", "is a folder"),
]

COMMANDS = [
    case("zebra", "'zebra'"),
    case("--zebra", "--zebra"),
    case("learn", "DATA"),
    case("learn numbers.csv --truth numbers.json -o out.bif", "out.bif", "discrete"),
    # query
    case("query", "NETWORK"),
    case("query truth.json", "QUESTION"),
    case("query nowhere.bif P(a)", "nowhere.bif"),
    case("query plain.dot P(a)", "plain.dot", "no parameters"),
    case("query truth.json P(a)", "truth.json", "without parameters"),
    case("query truth.json a", "'a'", "P("),
    case("query truth.json P(a) --samples 0", "--samples"),
    case("query truth.json P(a) --seed -1", "--seed"),
    # score
    case("score", "DATA"),
    case("score good.csv", "-o"),
    case("score good.csv -o out.txt", "out.txt", ".jkl"),
    case("score good.csv -o nowhere/out.jkl", "nowhere/out.jkl", "no folder"),
    case("score good.csv -o folder.jkl", "folder.jkl", "is a folder"),
    case("score good.csv --score bix -o out.jkl", "'bix'"),
    case("score good.csv --option zebra=1 -o out.jkl", "'zebra'"),
    case("score good.csv --option restarts=1 -o out.jkl", "'restarts'"),
    case("score good.csv --score bge -o out.jkl", "'a'", "discrete"),
    case("score good.csv --max-parents -2 -o out.jkl", "--max-parents"),
    case("score good.csv --knowledge contradiction.json -o out.jkl", "contradiction.json"),
    case("score good.csv --knowledge unknown_variable.json -o out.jkl", "'zebra'"),
    case("score empty.csv -o out.jkl", "empty.csv"),
    case("score header.csv -o out.jkl", "header.csv"),
    case("score row.csv -o out.jkl", "1 row"),
    case("score column.csv -o out.jkl", "1 column"),
    case("score gap.csv -o out.jkl", "'b'"),
    case("score mixed.csv --score bic -o out.jkl", "'u'"),
    case("score fixed.csv --continuous v -o out.jkl", "'v'", "constant"),
    case("score spaces.csv -o out.jkl", "'a b'"),
    case("score wide.csv --score k2 -o out.jkl", "--max-parents"),
    # simulate
    case("simulate", "--sem"),
    case("simulate --sem gaussian --rows 10 -o out.csv", "--nodes", "--degree"),
    case("simulate --sem gaussian --rows 10 --nodes 5 -o out.csv", "--degree"),
    case("simulate --sem zebra --nodes 5 --degree 1 --rows 10 -o out.csv", "'zebra'", "gumbel"),
    case("simulate --graph tree --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.csv", "--graph", "'tree'"),
    case("simulate --graph sf --sem gaussian --nodes 5 --degree 1.5 --rows 10 -o out.csv", "degree", "1.5"),
    case("simulate --sem gaussian --nodes 0 --degree 1 --rows 10 -o out.csv", "--nodes"),
    case("simulate --sem gaussian --nodes 5 --degree -1 --rows 10 -o out.csv", "--degree"),
    case("simulate --sem gaussian --nodes 5 --degree nan --rows 10 -o out.csv", "degree"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 0 -o out.csv", "--rows"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows ten -o out.csv", "--rows", "'ten'"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 --seed -1 -o out.csv", "--seed"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 --noise-scale 0 -o out.csv", "--noise-scale"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 --noise-scale nan -o out.csv", "--noise-scale"),
    case("simulate --sem poisson --nodes 5 --degree 1 --rows 10 --noise-scale 2 -o out.csv", "--noise-scale"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 --nonlinearity 2 -o out.csv", "nonlinearity"),
    case("simulate --sem fourier --nodes 5 --degree 1 --rows 10 --nonlinearity -2 -o out.csv", "nonlinearity"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.xyz", "out.xyz"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.csv --truth out.xyz", "out.xyz"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.csv --truth out.bif", "out.bif"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o nowhere/out.csv --truth t.json", "nowhere/out.csv"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.csv --truth nowhere/t.json", "nowhere/t.json"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o folder.csv --truth t.json", "folder.csv"),
    case("simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.csv --truth out.csv", "out.csv"),
    case("simulate --sem bif:not_there.bif --rows 10 -o out.csv", "not_there.bif"),
    case("simulate --sem bif: --rows 10 -o out.csv", "bif:"),
    case("simulate --sem bif:cyclic.bif --rows 10 -o out.csv --truth t.json", "cyclic.bif", "has a cycle"),
    case("simulate --sem bif:broken.bif --rows 10 -o out.csv", "broken.bif"),
    case("simulate --sem bif:sums.bif --rows 10 -o out.csv", "sums.bif", "'a'"),
    case("simulate --sem bif:plain.dot --rows 10 -o out.csv", "plain.dot"),
    case("simulate --sem bif:truth.json --rows 10 -o out.csv", "truth.json", "parameters"),
    case("simulate --sem bif:cyclic.bif --nodes 5 --rows 10 -o out.csv", "--nodes"),
    # compare
    case("compare truth.json", "TRUTH"),
    case("compare not_there.json truth.json", "not_there.json"),
    case("compare truth.json not_there.json", "not_there.json"),
    case("compare truth.json cyclic.json", "cyclic.json", "cycle: a → b → c → a"),
    case("compare cyclic.dot truth.json", "cyclic.dot", "has a cycle"),
    case("compare truth.json stranger.json", "'zebra'"),
    case("compare truth.json unlisted.json", "unlisted.json", "'zebra'"),
    case("compare truth.json shapeless.json", "shapeless.json"),
    case("compare truth.json broken.json", "broken.json"),
    case("compare truth.json list.json", "list.json"),
    case("compare truth.json latin.json", "latin.json", "UTF-8"),
    case("compare truth.json noise.json.gz", "noise.json.gz"),
    case("compare truth.json broken.dot", "broken.dot"),
    case("compare truth.json broken.graphml", "broken.graphml"),
    case("compare truth.json good.csv", "good.csv"),
    case("compare truth.json empty.csv", "empty.csv"),
    case("compare truth.json table.xyz", "'.xyz'"),
    case("compare truth.json folder.json", "folder.json"),
    case("compare truth.json truth.json --picture out.png", "out.png", ".svg"),
    case("compare truth.json truth.json --picture nowhere/out.svg", "nowhere/out.svg"),
    case("compare truth.json truth.json truth.json", "truth.json"),
    # convert
    case("convert truth.json", "TARGET"),
    case("convert not_there.json out.dot", "not_there.json"),
    case("convert truth.json out.xyz", "out.xyz"),
    case("convert truth.json out", "out", "no extension"),
    case("convert table.xyz out.json", "table.xyz"),
    case("convert cyclic.bif out.json", "cyclic.bif", "has a cycle"),
    case("convert cyclic.dot out.svg", "cyclic.dot", "has a cycle"),
    case("convert broken.bif out.json", "broken.bif"),
    case("convert truth.json out.bif", "out.bif", "parameters"),
    case("convert noise.json.gz out.dot", "noise.json.gz"),
    case("convert latin.json out.dot", "latin.json", "UTF-8"),
    case("convert truth.json nowhere/out.dot", "nowhere/out.dot", "no folder"),
    case("convert truth.json folder.json", "folder.json", "is a folder"),
    case("convert folder.json out.dot", "folder.json", "is a folder"),
    # methods and demo
    case("methods zebra", "'zebra'"),
    case("methods tabuu --json", "'tabuu'", "did you mean 'tabu'"),
    case("methods tabu bic", "bic"),
    case("demo --rows 1 -o out", "--rows"),
    case("demo --seed -1 -o out", "--seed"),
    case("demo -o good.csv", "good.csv"),
    case("demo -o good.csv/out", "good.csv/out"),
    # reproduce
    case("reproduce zebra", "'zebra'", "notears/table1"),
    case("reproduce notears/table2 -o out", "'notears/table2'", "did you mean 'notears/table1'"),
    case("reproduce zebra --list", "'zebra'"),
    case("reproduce notears/table1 -o good.csv", "good.csv"),
    case("reproduce notears/table1 -o good.csv/out", "good.csv/out"),
    case("reproduce notears/table1 --jobs 0 -o out", "--jobs"),
    case("reproduce notears/table1 --seed -1 -o out", "--seed"),
    case("reproduce notears/table1 --time-limit 0 -o out", "--time-limit must be", "0"),
    case("reproduce notears/table1 --zebra -o out", "--zebra"),
    case("reproduce notears/table1 more -o out", "more"),
    # federate
    case("federate zebra", "'zebra'"),
    case("federate keys --sites a,b,c", "FOLDER"),
    case("federate keys out", "--sites"),
    case("federate keys out --sites a", "--sites", "two"),
    case("federate keys out --sites a,b,a", "--sites", "'a,b,a'"),
    case("federate keys out --sites a,coordinator", "'coordinator'"),
    case("federate keys out --sites a,../b", "'../b'"),
    case("federate keys out --sites a,b --days 0", "--days"),
    case("federate keys out --sites a,b --days 99999999", "--days"),
    case("federate keys good.csv --sites a,b", "good.csv", "exists"),
    case("federate keys folder.csv/nowhere/out --sites a,b", "folder.csv/nowhere/out"),
    case("federate coordinator --sites a,b,c", "--keys"),
    case("federate coordinator --keys nowhere --sites a,b,c", "nowhere/ca.pem", "dagora federate keys"),
    case("federate coordinator --keys nowhere --sites a,b", "--minimum 2", "the other's part"),
    case("federate coordinator --keys nowhere --sites a,b,c --minimum 4", "--minimum 4"),
    case("federate coordinator --keys nowhere --sites a,b,c --minimum 1", "--minimum"),
    case("federate coordinator --keys nowhere --sites a,b,c --port 70000", "--port", "70000"),
    case("federate coordinator --keys nowhere --sites a,b,c --wait 0", "--wait", "0"),
    case("federate coordinator --keys nowhere --sites a,b,c --wait nan", "--wait", "nan"),
    case("federate coordinator --keys nowhere --sites a,b,c --patience -2", "--patience", "-2"),
    case("federate coordinator --keys nowhere --sites a,b,c --patience inf", "--patience", "inf"),
    case("federate coordinator --keys nowhere --sites a,b,c --method zebra", "'zebra'", "tabu"),
    case("federate coordinator --keys nowhere --sites a,b,c -m tabu --option zebra=1", "'zebra'"),
    case("federate coordinator --keys nowhere --sites a,b,c -m tabu --truth broken.json", "broken.json"),
    case("federate coordinator --keys nowhere --sites a,b,c -m tabu -o out.xyz", "out.xyz"),
    case("federate coordinator --keys nowhere --sites a,b,c -m tabu --picture out.png", "out.png"),
    case("federate coordinator good.csv --keys nowhere --sites a,b,c", "good.csv"),
    case("federate client --keys nowhere --connect 127.0.0.1:7100", "DATA"),
    case("federate client good.csv --connect 127.0.0.1:7100", "--keys"),
    case("federate client good.csv --keys nowhere", "--connect"),
    case("federate client good.csv --keys nowhere --connect 127.0.0.1:7100", "nowhere/ca.pem"),
    case("federate client good.csv --keys nowhere --connect zebra", "HOST:PORT", "'zebra'"),
    case("federate client good.csv --keys nowhere --connect 127.0.0.1:0", "HOST:PORT"),
    case("federate client good.csv --keys nowhere --connect 127.0.0.1:70000", "HOST:PORT"),
    case("federate client good.csv --keys nowhere --connect 127.0.0.1:7100 --wait 0", "--wait"),
    case("federate client good.csv --keys nowhere --connect 127.0.0.1:7100 --dry-run plan.json", "one of --connect"),
    case("federate client good.csv --keys nowhere --dry-run plan.json", "nowhere/ca.pem"),
    case("federate coordinator --keys nowhere --table-columns 0", "--table-columns"),
    case("federate coordinator --keys nowhere --table-cells 0", "--table-cells"),
    case("federate policy zebra", "'zebra'"),
    case("federate policy init good.csv", "--keys"),
    case("federate policy init good.csv --keys nowhere", "nowhere holds no certificates", "dagora federate keys"),
    case("federate policy init good.csv --keys nowhere --rare -1", "--rare"),
    case("federate policy check", "POLICY"),
    case("federate policy check nowhere.toml", "nowhere.toml"),
    case("federate policy check good.csv", "good.csv"),
    case("federate log", "PATH"),
    case("federate log nowhere", "nowhere", "there is no log"),
    case("federate log good.csv", "good.csv", "line 1", "cannot be relied on"),
    case("federate simulate good.csv", "--parties"),
    case("federate simulate good.csv --parties 1", "--parties"),
    case("federate simulate good.csv --parties 2", "--parties", "--minimum 2"),
    case("federate simulate good.csv --parties 1000", "42 rows", "1000 parties"),
    case("federate simulate empty.csv --parties 3", "empty.csv"),
    case("federate simulate mixed.csv --parties 3 --in-memory --score bayes-mixed", "bayes-mixed needs rows"),
    case("federate simulate numbers.csv --parties 3 -o out.bif", "out.bif", "discrete"),
    case("federate simulate good.csv --parties 3 --truth stranger.json", "stranger.json", "'zebra'"),
    case("federate simulate good.csv --parties 3 --method notears-mlp --in-memory", "notears-mlp needs rows"),
    case("federate simulate numbers.csv --parties 3 --method notears-mlp --in-memory", "rows", "counts or moments"),
]  # fmt: skip


def check_refusal(code: int, out: str, err: str, mentions: tuple[str, ...]) -> None:
    assert code == 2, err
    assert not out
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert err.startswith("dagora: error: ")
    assert err.endswith("\n")
    for mention in mentions:
        assert mention in err
    for noise in ("Traceback", "Error(", "pyarrow", "Errno", "numpy."):
        assert noise not in err


@pytest.mark.parametrize(("arguments", "mentions"), LEARN_DATA)
def test_learn_refuses_data(
    run: Callable, unchanged: Path, arguments: list[str], mentions: tuple[str, ...]
) -> None:
    ran = run("learn", *arguments, "-o", "out.json", "--json")
    check_refusal(ran.code, ran.out, ran.err, mentions)


@pytest.mark.parametrize(("arguments", "mentions"), LEARN_OPTIONS)
def test_learn_refuses_options(
    run: Callable, unchanged: Path, arguments: list[str], mentions: tuple[str, ...]
) -> None:
    written = [] if {"-o", "--output"} & set(arguments) else ["-o", "out.json"]
    ran = run("learn", "good.csv", *written, *arguments)
    check_refusal(ran.code, ran.out, ran.err, mentions)


@pytest.mark.parametrize(("arguments", "mentions"), COMMANDS)
def test_commands_refuse(
    run: Callable, unchanged: Path, arguments: list[str], mentions: tuple[str, ...]
) -> None:
    ran = run(*arguments)
    check_refusal(ran.code, ran.out, ran.err, mentions)


def test_the_good_files_are_good(
    run: Callable, bad_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other half of each case: what is refused above is refused for the reason given."""
    monkeypatch.chdir(bad_files)
    out = tmp_path / "out.json"
    for line in (
        "learn good.csv --truth truth.json --method tabu --option restarts=1",
        "learn numbers.csv --truth numbers.json",
        "learn numbers.csv --method notears --truth numbers.json",
        "learn copies.csv --drop w --method notears --option loss=profile",
        "learn good.csv --method notears --option loss=logistic",
        "learn fixed.csv --discretise width",
        "learn gap.csv --missing drop",
        "learn gap.csv --missing level",
        "learn semicolons.csv --separator ;",
        "learn mixed.csv --discretise quantile --bins 3",
    ):
        ran = run(*line.split(), "-o", out)
        assert ran.code == 0, ran.err
        assert json.loads(out.read_text())["nodes"]
    assert run("score", "wide.csv", "--max-parents", 1, "-o", tmp_path / "out.jkl").code == 0
    assert run("compare", "truth.json", "plain.dot").code == 0
    assert run("convert", "plain.dot", tmp_path / "out.csv").code == 0


def test_a_failed_run_leaves_the_old_file(run: Callable, bad_files: Path, tmp_path: Path) -> None:
    old = tmp_path / "out.json"
    old.write_text("precious")
    assert run("learn", bad_files / "mixed.csv", "--score", "bic", "-o", old).code == 2
    assert run("convert", bad_files / "cyclic.json", old).code == 2
    assert old.read_text() == "precious"
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize(
    "line",
    [
        "learn good.csv -o out.json",
        "learn good.csv --picture out.svg",
        "score good.csv -o out.jkl.gz",
        "simulate --sem gaussian --nodes 5 --degree 1 --rows 10 -o out.parquet --truth out.dot",
        "convert truth.json out.graphml",
    ],
)
def test_a_full_disk_leaves_nothing(
    run: Callable, unchanged: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", fail)
    ran = run(*line.split(), *(["--quiet"] if line.startswith(("learn", "score")) else []))
    # What was learned is printed all the same.
    check_refusal(ran.code, "" if line.startswith("learn") else ran.out, ran.err, ("out.", "o space left"))


def test_reproduce_says_where_data_should_be(
    run: Callable, unchanged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGORA_DATA", "nowhere")
    ran = run("reproduce", "notears/sachs", "-o", "out")
    check_refusal(ran.code, ran.out, ran.err, ("nowhere/sachs/", "DAGORA_DATA"))


@pytest.mark.parametrize(
    ("arguments", "mentions"),
    [
        case("learn empty.csv -o out.json", "empty.csv"),
        case("learn no_text.csv --json -o out.bif", "no_text.csv", "UTF-8"),
        case("convert cyclic.json out.dot", "cyclic.json", "a → b → c → a"),
    ],
)
def test_as_a_process(
    start: Callable, unchanged: Path, arguments: list[str], mentions: tuple[str, ...]
) -> None:
    process = start(*arguments)
    out, err = process.communicate(timeout=60)
    said = "".join(line for line in err.splitlines(keepends=True) if not PROGRESS.fullmatch(line.strip()))
    check_refusal(process.returncode, out, said, mentions)
