r"""A strict reader of BIF: what pyAgrum, pgmpy and bnlearn all demand of a file, as far as we know it.

pyAgrum and pgmpy can be asked (`test_bif_messy_peer.py`). bnlearn needs R; its rules are those of the code
of `read.bif` in bnlearn 4 and 5, which goes line by line:

- `//` begins a comment and a `property` ends at its line's first `;`; then the first line begins with
  `network`;
- a line `variable NAME {` declares a variable; `type discrete [ K ] { A, B };` has blanks inside the braces,
  commas between the levels, and braces nowhere else;
- in `probability ( NAME | P, Q ) {` NAME is `\w+`, blanks stand around it and the bar, parents are split at
  blanks, and all of it is on one line;
- a variable without parents has `table` and one number per level, another one row `(A, B) p, q;` for every
  configuration of its parents;
- numbers are between 0 and 1, and sum to 1 within 0.01; a variable with one level is left out, and refused as a
  parent;
- text other than ASCII is read in the encoding of the machine.

This reader holds a file to all of it, and to what we found the other two to refuse (see `bif_words`).
"""

import re
from itertools import product
from math import prod

import numpy as np

KEYWORDS = {"network", "variable", "probability", "type", "discrete", "property", "table", "default"}
WORD = r"(?:[0-9]+(?![eE0-9]))?[A-Za-z_]"
NAME = re.compile(WORD + r"\w*", re.ASCII)
LEVEL = re.compile(rf"[+-]?[0-9]+|{WORD}[\w.-]*", re.ASCII)
NUMBER = re.compile(r"[0-9.]+(e[-+]?[0-9]+)?")


def strict_reading(text):
    """Levels, parents in the order of the file, and tables with one axis per such parent, the own levels last."""
    assert text.isascii()
    lines = [re.sub(r"//.*", "", line).rstrip() for line in text.split("\n")]
    lines = iter([line for line in lines if line])
    name = expect(r"network (\S+) \{", next(lines))[1]
    assert NAME.fullmatch(name)
    assert not re.search("variable|probability", name)
    assert name not in KEYWORDS
    assert next(lines) == "}"
    levels, parents, tables = {}, {}, {}
    for line in lines:
        if line.startswith("variable"):
            node = expect(r"variable (\S+) \{", line)[1]
            assert NAME.fullmatch(node), node
            assert node not in KEYWORDS | set(levels), node
            assert not re.search("(table|default)[-+.eE0-9]", node), node
            size, listed = expect(r"  type discrete \[ (\d+) \] \{ (.+) \};", next(lines)).groups()
            levels[node] = listed.split(", ")
            assert len(set(levels[node])) == len(levels[node]) == int(size) >= 2
            assert all(LEVEL.fullmatch(x) and x not in KEYWORDS for x in levels[node]), levels[node]
            assert next(lines) == "}"
        else:
            node, given = expect(r"probability \( (\w+)(?: \| ([\w, ]+))? \) \{", line).groups()
            assert node in set(levels) - set(parents), node
            parents[node] = given.split(", ") if given else []
            configurations = list(product(*(levels[parent] for parent in parents[node])))
            rows = {}
            for _ in configurations:
                head, numbers = expect(r"  (table|\(.*\)) (.+);", next(lines)).groups()
                assert (head == "table") == (not given)
                key = tuple(head[1:-1].split(", ")) if given else ()
                assert key not in rows
                assert all(NUMBER.fullmatch(number) for number in numbers.split(", ")), numbers
                rows[key] = [float(number) for number in numbers.split(", ")]
                assert len(rows[key]) == len(levels[node])
                assert abs(sum(rows[key]) - 1) < 0.01
            assert next(lines) == "}"
            table = np.array([rows[key] for key in configurations])
            shape = [len(levels[member]) for member in (*parents[node], node)]
            assert table.size == prod(shape)
            tables[node] = table.reshape(shape)
    assert list(parents) == list(levels)
    assert len({node.lower() for node in levels}) == len(levels)
    return levels, parents, tables


def expect(pattern, line):
    found = re.fullmatch(pattern, line, re.ASCII)
    assert found, line
    return found


def assert_like(network, levels, parents, tables):
    """What a strict reader or another program read is the network, up to its names."""
    nodes = network.graph.nodes
    words = list(levels)
    assert len(words) == len(nodes)
    original = dict(zip(words, nodes, strict=True))
    for word, node in original.items():
        alone = len(network.levels[node]) == 1
        assert len(levels[word]) == len(network.levels[node]) + alone
        assert {original[parent] for parent in parents[word]} == set(network.graph.parents(node))
        axes = [parents[word].index(words[nodes.index(parent)]) for parent in network.graph.parents(node)]
        table = np.asarray(tables[word]).transpose([*axes, len(axes)])
        kept = tuple(slice(size) for size in network.tables[node].shape)
        np.testing.assert_allclose(table[kept], network.tables[node], atol=1e-6, rtol=0)
        assert alone <= (table[..., -1].max() == 0), "an added level never occurs"
