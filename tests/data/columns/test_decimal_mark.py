"""Points and commas in numbers: one reading for the whole file, in memory and scanned."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError

ROWS = 60
PRICES = [str(v) if v < 1000 else f"{v:,}".replace(",", ".") for v in range(95, 95 + 61 * ROWS, 61)]
TRUE_PRICES = [float(v) for v in range(95, 95 + 61 * ROWS, 61)]
WEIGHTS = [f"{50 + k / 4:.2f}" for k in range(ROWS)]


def write(tmp_path, **columns):
    file = tmp_path / "t.csv"
    lines = [";".join(cells) for cells in zip(*columns.values(), strict=True)]
    file.write_text("\n".join([";".join(columns), *lines, ""]))
    return file


def values(file, name, **options):
    """The numbers of a column, which are the same in memory and scanned."""
    table = dagora.read_table(file, separator=";", **options)
    rows = dagora.open_rows(file, separator=";", **options)
    place = table.schema.index(name)
    assert rows.schema == table.schema
    assert rows.overview.columns == table.overview.columns
    assert rows.moments().mean[place] == pytest.approx(table.values(place).mean())
    return table.values(place)


def refusal(file, **options):
    """The error, which is the same in memory and scanned."""
    with pytest.raises(DataError) as in_memory:
        dagora.read_table(file, separator=";", **options)
    with pytest.raises(DataError) as scanned:
        dagora.open_rows(file, separator=";", **options)
    assert str(in_memory.value).partition(": ")[2] == str(scanned.value).removeprefix(f"{file}: ")
    return str(in_memory.value)


def commas(cells):
    return [cell.replace(".", ",") for cell in cells]


def test_points_are_between_thousands_in_a_file_with_decimal_commas(tmp_path):
    file = write(tmp_path, price=PRICES, weight=commas(WEIGHTS))
    assert values(file, "price").tolist() == TRUE_PRICES
    (column,) = (c for c in dagora.inspect(file, separator=";").columns if c.name == "price")
    assert "points between thousands" in column.why


def test_few_values_too(tmp_path):
    doses = (["1.500", "900", "2.250"] * ROWS)[:ROWS]
    table = dagora.read_table(write(tmp_path, dose=doses, weight=commas(WEIGHTS)), separator=";")
    assert table.schema[0].levels == ("900", "1500", "2250")


def test_points_stand_before_decimals_in_a_file_with_points(tmp_path):
    file = write(tmp_path, price=PRICES, weight=WEIGHTS)
    assert values(file, "price").tolist() == [float(cell) for cell in PRICES]


def test_commas_are_between_thousands_in_a_file_with_points(tmp_path):
    file = write(tmp_path, price=[f"{v + 1000:,.0f}" for v in TRUE_PRICES], weight=WEIGHTS)
    assert values(file, "price").tolist() == [v + 1000 for v in TRUE_PRICES]


def test_two_readings_are_refused_and_both_are_shown(tmp_path):
    file = write(tmp_path, price=PRICES, cost=PRICES[::-1], weight=commas(WEIGHTS), height=WEIGHTS)
    line = refusal(file)
    assert "column 'price' has '1.010' beside '95' (so have 'cost')" in line
    assert "with a decimal point that is 1.010, with a decimal comma 1010" in line
    assert "decimal commas ('50,00' in 'weight') and decimal points ('50.00' in 'height')" in line
    assert 'decimal="point" or decimal="comma"' in line
    assert values(file, "price", decimal="comma").tolist() == TRUE_PRICES
    assert values(file, "price", decimal="point").tolist() == [float(cell) for cell in PRICES]
    assert values(file, "height", decimal="comma")[1] == values(file, "weight", decimal="point")[1] == 50.25


def test_whole_numbers_beside_three_decimals_alone_are_two_readings(tmp_path):
    file = write(tmp_path, price=PRICES, side=["a", "b"] * (ROWS // 2))
    assert "beside '95'" in refusal(file)
    assert values(file, "price", decimal="comma").tolist() == TRUE_PRICES


def test_three_decimals_in_every_number_are_decimals_where_commas_separate_cells(tmp_path):
    numbers = np.round(np.random.default_rng(1).uniform(1, 99, ROWS), 3)
    file = tmp_path / "t.csv"
    file.write_text("x,side\n" + "".join(f"{v:.3f},{'ab'[k % 2]}\n" for k, v in enumerate(numbers)))
    assert dagora.read_table(file).values(0).tolist() == numbers.tolist()
    assert dagora.open_rows(file).overview.columns[0].type == "continuous"


def test_three_decimals_in_every_number_are_two_readings_where_semicolons_separate_cells(tmp_path):
    amounts = np.random.default_rng(1).integers(1000, 9999, ROWS)
    file = write(tmp_path, x=[f"{v / 1000:.3f}" for v in amounts], side=["a", "b"] * (ROWS // 2))
    assert "with a decimal point that is" in refusal(file)
    assert values(file, "x", decimal="comma").tolist() == amounts.tolist()
    assert values(file, "x", decimal="point").tolist() == (amounts / 1000).tolist()
    other = write(tmp_path, x=[f"{v / 1000:.3f}" for v in amounts], y=[f"{v / 10000:.4f}" for v in amounts])
    assert values(other, "x").tolist() == (amounts / 1000).tolist()


def test_amounts_follow_the_file(tmp_path):
    file = write(tmp_path, price=[f"{cell} €" for cell in PRICES], weight=commas(WEIGHTS))
    assert values(file, "price").tolist() == TRUE_PRICES


def test_more_numbers_than_a_scan_keeps_follow_the_file(tmp_path):
    numbers = [f"{v:,}".replace(",", ".") for v in range(1000, 37_000, 3)]
    file = write(tmp_path, price=numbers, weight=[f"{k % 30},5" for k in range(12_000)])
    assert dagora.read_table(file, separator=";").values(0)[-1] == 36_997
    scanned = dagora.open_rows(file, separator=";")
    assert scanned.overview.columns[0].values == "1000 to 36997"


def test_an_unknown_mark_is_refused():
    with pytest.raises(dagora.OptionError, match="decimal must be point or comma, not 'dot'"):
        dagora.read_table("t.csv", decimal="dot")
