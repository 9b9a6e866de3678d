"""Fifty small tables with the names and levels that real tables have, and worse."""

import numpy as np

from dagora.api.learn import learn
from dagora.data.discretise import discretise
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.network.fit import fit

LONG = "a very long name of a column, with its unit [mmol/l] and the day " * 20

NAMES = {
    "plain": ["age", "sex", "BMI", "smoker"],
    "blanks": ["blood pressure", " age", "age ", "two  blanks"],
    "quotes": ['say "hi"', "it's", '"', "`tick`"],
    "umlauts": ["Größe", "Straße", "Ünal", "naïve"],
    "chinese": ["年龄", "性别", "血压", "吸烟"],
    "keywords": ["network", "variable", "table", "default"],
    "more keywords": ["probability", "type", "discrete", "property"],
    "digits first": ["1st", "2020", "3.5", "1e5"],
    "odd characters only": ["a-b", "a_b", "a b", "a.b"],
    "case only": ["Age", "age", "AGE", "aGe"],
    "long": [LONG + "1", LONG + "2", "x" * 500, "y" * 5000],
    "separators": ["a,b", "a;b", "a|b", "a/b"],
    "braces": ["a{b}", "(a)", "[0]", "}{"],
    "signs": ["100%", "a&b", "<x>", "a=b"],
    "line breaks": ["two\nlines", "tab\there", "\r\n", "nul\x00"],
    "looks like a row": ["table5", "vegetable.e", "default-1", "stableE"],
    "looks like a comment": ["//", "/*", "*/", "# no"],
    "empty": ["", " ", "_", "-"],
    "arrows": ["a -> b", "a → b", "a | b, c", "probability ( x ) {"],
    "numbered already": ["a_2", "a b", "a,b", "a_b"],
}
LEVELS = {
    "plain": ["no", "yes", "maybe"],
    "intervals": ["(-inf, 0.5]", "(0.5, 1e+06]", "(1e+06, inf)"],
    "numbers": ["0", "1", "-1"],
    "decimals": ["0.5", "1e-05", "-0.25"],
    "quotes": ['"', "it's", '""'],
    "blanks": ["", " ", "\u00a0"],
    "keywords": ["table", "default", "probability"],
    "odd characters only": ["a b", "a-b", "a_b"],
    "separators": ["a,b", "a;b", "a|b"],
    "braces": ["{", "}", "{}"],
    "brackets": ["(", ")", "[1]"],
    "comparisons": ["<5", ">=5", "5"],
    "ranges": ["0-3 days", "4-10 days", "12+"],
    "percent": ["10%", "1/2", "1\\2"],
    "umlauts": ["groß", "größer", "am größten"],
    "chinese": ["男", "女", "其他"],
    "line breaks": ["one\ntwo", "one\r\ntwo", "one two"],
    "missing words": ["NA", "NaN", "?"],
    "comments": ["//", "/* a", "a */"],
    "signed twice": ["-5", " -5", "- 5"],
    "long": ["l" * 3000, "l" * 3000 + "m", "L " * 900],
    "one only": ["always"],
    "one odd only": ["the same, always"],
    "booleans": ["True", "false", "TRUE"],
    "never": ["never"],
}
# 24 tables join the styles pairwise, 26 more take each style of level with a continuous column beside it.
STYLES = [
    *zip([*NAMES, *list(NAMES)[:4]], [*LEVELS][:24], strict=True),
    *((list(NAMES)[(7 * k) % len(NAMES)], style) for k, style in enumerate([*LEVELS, "plain"])),
]
MESSY = {f"{k:02d}: {names}; {levels}": (k, names, levels) for k, (names, levels) in enumerate(STYLES)}


def messy_table(key):
    """Four columns of which each depends on the one before; in every second table the last was continuous."""
    k, names, levels = MESSY[key]
    rng = np.random.default_rng(k)
    rows = 300
    variables, columns = [], []
    before = rng.integers(0, 3, rows)
    for j, name in enumerate(NAMES[names]):
        before = np.where(rng.random(rows) < 0.8, before, rng.integers(0, 3, rows))
        if j == 3 and k % 2:
            variables.append(Variable(name, Kind.CONTINUOUS))
            columns.append((before + rng.normal(0, 0.3, rows)) * 10.0 ** rng.integers(-8, 9))
        else:
            # Where a style has one level, the other columns have plain ones: something must be left to learn.
            odd = j == 1 or len(LEVELS[levels]) > 1
            listed = LEVELS[levels] if odd else LEVELS["plain"]
            variables.append(Variable(name, Kind.DISCRETE, tuple(listed)))
            columns.append(np.minimum(before, len(listed) - 1).astype(np.uint16))
    table = Table(Schema(variables), tuple(columns))
    return discretise(table, "quantile", 4) if k % 2 else table


def messy_network(key):
    """The network that is learned from a messy table, with its parameters."""
    table = messy_table(key)
    return fit(learn(table, "hill-climb", score="bic").graph, table, name=key)
