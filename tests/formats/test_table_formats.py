"""XMLBIF, Hugin, XDSL and UAI: networks come back, files of other programs' shapes are read, bad ones refused."""

import numpy as np
import pytest
from hypothesis import given, settings

import dagora
from dagora.base.errors import FormatError
from dagora.formats import hugin, uai, xdsl, xmlbif
from dagora.formats.parsed_tables import MOST_PARENTS
from dagora.formats.registry import convert, read_graph, read_network, write_graph, write_network
from dagora.graph.dag import DAG
from dagora.network.greenhouse import greenhouse
from dagora.network.networks import DiscreteNetwork
from tests.formats.format_oracles import assert_same_network, discrete_networks
from tests.formats.messy_tables import MESSY, messy_network

NAMED = {"xmlbif": xmlbif, "net": hugin, "xdsl": xdsl}

RAIN = DiscreteNetwork(
    DAG(["wet", "rain", "wind"], [("rain", "wet"), ("wind", "wet")]),
    {"rain": ("no", "yes"), "wind": ("low", "mid", "high"), "wet": ("dry", "wet")},
    {
        "rain": np.array([0.8, 0.2]),
        "wind": np.array([0.5, 0.3, 0.2]),
        "wet": np.array([[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], [[0.3, 0.7], [0.2, 0.8], [0.1, 0.9]]]),
    },
    "weather",
)


@pytest.mark.parametrize("key", MESSY)
@pytest.mark.parametrize("ending", NAMED)
def test_messy_names_come_back(key, ending, tmp_path):
    network = messy_network(key)
    write_network(network, tmp_path / f"n.{ending}")
    back = read_network(tmp_path / f"n.{ending}")
    assert_same_network(back, network)


@pytest.mark.parametrize("ending", NAMED)
@settings(max_examples=40, deadline=None)
@given(discrete_networks())
def test_any_network_comes_back(ending, network):
    module = NAMED[ending]
    assert_same_network(module.parse(module.render(network)), network)


@settings(max_examples=40, deadline=None)
@given(discrete_networks())
def test_uai_keeps_all_but_names(network):
    back = uai.parse(uai.render(network))
    number = {node: f"V{k}" for k, node in enumerate(network.graph)}
    assert back.graph == DAG(number.values(), [(number[a], number[b]) for a, b in network.graph.edges])
    for node in network.graph:
        np.testing.assert_array_equal(back.tables[number[node]], network.tables[node])


@pytest.mark.parametrize("ending", [*NAMED, "uai"])
def test_what_is_lost_is_said(ending, tmp_path):
    rows = dagora.sample_network(greenhouse(), 200, seed=1)
    write_network(dagora.fit(dagora.learn(rows, "hill-climb"), rows), tmp_path / "n.json")
    notes = convert(tmp_path / "n.json", tmp_path / f"n.{ending}")
    assert any("what the parameters rest on was left out" in note for note in notes)
    assert any("names were left out" in note for note in notes) == (ending == "uai")


def test_without_originals_the_words_are_the_names(tmp_path):
    odd = DiscreteNetwork(DAG(["a b"]), {"a b": ("x\ny", "z")}, {"a b": np.array([0.5, 0.5])}, "n")
    for ending in ("net", "xdsl"):
        write_network(odd, tmp_path / f"n.{ending}", originals=False)
        assert read_network(tmp_path / f"n.{ending}").graph.nodes == ("a_b",)


# The shapes in which other programs write: comments, attributes, other orders of blocks and parents.
JAVABAYES = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NAME (#PCDATA)>
]>
<BIF VERSION="0.3"><NETWORK><NAME>weather</NAME>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME>
  <PROPERTY>position = (73, 165)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME> wind </NAME><OUTCOME>low</OUTCOME><OUTCOME>mid</OUTCOME><OUTCOME>high</OUTCOME></VARIABLE>
<DEFINITION><FOR>wet</FOR><GIVEN>wind</GIVEN><GIVEN>rain</GIVEN>
  <TABLE>0.9 0.1 0.3 0.7 <!-- mid --> 0.8 0.2 0.2 0.8
  0.7 0.3 0.1 0.9</TABLE></DEFINITION>
<DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE></DEFINITION>
<DEFINITION><FOR>wind</FOR><TABLE>0.5 0.3 0.2</TABLE></DEFINITION>
</NETWORK></BIF>
"""
HUGIN = """% made by hand, as Hugin writes
net { node_size = (80 40); name = "weather"; HR_Groups_GroupNames = "a (b"; }
node wet { label = "It is wet"; position = (10 20); states = ("dry" "wet"); }
discrete node rain { states = ("no" "yes"); }
node wind
{
  subtype = label;
  states = ("low" % a comment
            "mid" "high");
}
potential (rain | ) { data = ( 0.8 0.2 ); }
potential (wind) { data = (0.5 0.3 0.2); }
potential (wet | wind rain)
{
  data = (((0.9 0.1)   % wind=low rain=no
           (0.3 0.7))
          ((0.8 0.2) (0.2 0.8))
          ((0.7 0.3) (0.1 0.9)));
  experience = (1 1 1 1 1 1);
}
"""
GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="weather" numsamples="10000">
 <nodes>
  <cpt id="rain"><state id="no" /><state id="yes" /><probabilities>0.8 0.2</probabilities></cpt>
  <cpt id="wind"><state id="low" /><state id="mid" /><state id="high" />
   <probabilities>0.5 0.3 0.2</probabilities></cpt>
  <cpt id="wet" target="true"><state id="dry" /><state id="wet" /><parents>wind rain</parents>
   <probabilities>0.9 0.1 0.3 0.7 0.8 0.2 0.2 0.8 0.7 0.3 0.1 0.9</probabilities></cpt>
 </nodes>
 <extensions><genie version="1.0" app="GeNIe" name="weather"><node id="wet"><name>It is wet</name></node></genie>
 </extensions>
</smile>
"""
UAI = "BAYES\n3\n2 2 3\n3\n3 2 1 0\n1 1\n1 2\n\n12\n0.9 0.1 0.3 0.7 0.8 0.2 0.2 0.8 0.7 0.3 0.1 0.9\n2 0.8 0.2\n3 0.5 0.3 0.2\n"


@pytest.mark.parametrize(
    ("ending", "text"), [("xml", JAVABAYES), ("net", HUGIN), ("xdsl", GENIE), ("uai", UAI)], ids=str
)
def test_files_in_other_programs_shapes(ending, text, tmp_path):
    """Parents stand in another order than ours, so tables are turned."""
    (tmp_path / f"n.{ending}").write_text(text)
    found = read_network(tmp_path / f"n.{ending}")
    back = {"V0": "wet", "V1": "rain", "V2": "wind"} if ending == "uai" else {}
    for node in found.graph:
        name = back.get(node, node)
        parents = [back.get(one, one) for one in found.graph.parents(node)]
        ours = RAIN.graph.parents(name)
        axes = [ours.index(one) for one in parents]
        expected = RAIN.tables[name].transpose([*axes, len(axes)])
        np.testing.assert_array_equal(found.tables[node], expected, err_msg=name)
    assert found.name == ("unknown" if ending == "uai" else "weather")
    assert read_graph(tmp_path / f"n.{ending}").edges == found.graph.edges


def test_files_of_pyagrum_are_read_in_its_order():
    """The first parent runs fastest there: wind (three levels), then rain."""
    numbers = "0.9 0.1 0.8 0.2 0.7 0.3 0.3 0.7 0.2 0.8 0.1 0.9"
    ours = "0.9 0.1 0.3 0.7 0.8 0.2 0.2 0.8 0.7 0.3 0.1 0.9"
    made = "<!-- This network was created by pyAgrum 3.3.1 for any purpose you want -->\n<smile"
    theirs = GENIE.replace("<smile", made, 1).replace(ours, numbers)
    assert ours in GENIE
    np.testing.assert_array_equal(xdsl.parse(theirs).tables["wet"], xdsl.parse(GENIE).tables["wet"])
    commented = UAI.replace("3 2 1 0\n1 1\n1 2\n", "3 2 1 0   # wet\n1 1   # rain\n1 2   # wind\n")
    commented = commented.replace(ours, numbers)
    np.testing.assert_array_equal(uai.parse(commented).tables["V0"], uai.parse(UAI).tables["V0"])
    by_hand = UAI.replace("BAYES", "BAYES  # by hand")
    np.testing.assert_array_equal(uai.parse(by_hand).tables["V0"], uai.parse(UAI).tables["V0"])
    first = "\n".join(f"{line}  # {k}" for k, line in enumerate(UAI.splitlines()[:4]))
    preamble = "\n".join([first, *UAI.splitlines()[4:]])
    np.testing.assert_array_equal(uai.parse(preamble).tables["V0"], uai.parse(UAI).tables["V0"])


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("decision d", "decision"),
        ("decision node d", "decision"),
        ("utility d", "utility"),
        ("continuous utility d", "utility"),
        ("function d", "function"),
        ("discrete decision d", "decision"),
        ("continuous node d", "continuous"),
    ],
)
def test_other_nodes_of_hugin_are_refused_by_name(words, kind):
    with pytest.raises(FormatError, match=f"line 1: 'd' is a {kind} node"):
        hugin.parse(f'net {{}} {words} {{ states = ("x" "y"); }}')


def test_dynamic_networks_of_genie_are_refused():
    with pytest.raises(FormatError, match="is a dynamic network"):
        xdsl.parse(GENIE.replace("</nodes>", '</nodes><dynamic numslices="3"></dynamic>'))


def test_deterministic_nodes_of_genie_are_tables():
    text = (
        GENIE.replace('<cpt id="wet" target="true">', '<deterministic id="wet">')
        .replace("</probabilities></cpt>\n </nodes>", "</probabilities></deterministic>\n </nodes>")
        .replace(
            "<probabilities>0.9 0.1 0.3 0.7 0.8 0.2 0.2 0.8 0.7 0.3 0.1 0.9</probabilities>",
            "<resultingstates>dry wet dry wet dry wet</resultingstates>",
        )
    )
    assert xdsl.parse(text).query("P(wet=wet | rain=yes, wind=mid)").probabilities == {"wet": 1.0}


SMALL = '<smile id="n"><nodes><cpt id="a"><state id="x"/><state id="y"/>{}</cpt></nodes></smile>'
NET = 'net {{}} node a {{ states = ("x" "y"); }} potential ({}) {{ data = ({}); }}'


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("ending", "text", "line"),
    [
        ("xml", "<BIF>", "line 1: is not XML: no element found"),
        ("xml", "<bif><other/></bif>", "must be a <BIF> with a <NETWORK>, not <bif>"),
        ("xml", '<!DOCTYPE a [<!ENTITY b "bb">]><BIF>&b;</BIF>', "line 1: declares an entity"),
        ("xml", '<!DOCTYPE a SYSTEM "other.dtd"><BIF>&b;</BIF>', "must be a <BIF> with a <NETWORK>"),
        ("xml", "<a>" * 100, "line 1: has elements nested deeper than 60"),
        ("xml", JAVABAYES.replace('"nature"', '"decision"'), "'wet' is a decision variable"),
        ("xml", JAVABAYES.replace("0.9 0.1 0.3", "0.9 0.1"), "the table of 'wet' needs 12 numbers, not 11"),
        ("xml", JAVABAYES.replace("<FOR>rain</FOR>", "<FOR>wet</FOR>"), "the table of 'wet' is given twice"),
        ("xml", JAVABAYES.replace("0.8 0.2</TABLE>", "0.8 x</TABLE>"), "a probability of 'rain' is not a number: 'x'"),
        ("xml", JAVABAYES.replace("0.8 0.2</TABLE>", "0.8 0.8</TABLE>"), "a distribution of 'rain' sums to 1.6, not to 1"),
        ("xml", JAVABAYES.replace("0.8 0.2</TABLE>", "nan 0.8</TABLE>"), "a probability of 'rain' is nan"),
        ("xml", JAVABAYES.replace("<OUTCOME>yes</OUTCOME>", "<OUTCOME>no</OUTCOME>"), "'rain' lists the level 'no' twice"),
        ("xml", JAVABAYES.replace("</BIF>", "<NETWORK><NAME>n</NAME></NETWORK></BIF>"), "a <BIF> has 2 <NETWORK>, 'weather"),
        ("xml", JAVABAYES.replace("0.8 0.2</TABLE>", "0.8 0.2</TABLE><TABLE>0.3 0.7</TABLE>"), "a <DEFINITION> has 2 <TABLE>, '0.8 0.2' and '0.3 0.7'"),
        ("xml", JAVABAYES.replace("<FOR>rain</FOR>", "<FOR>rain</FOR><FOR>b</FOR>"), "a <DEFINITION> has 2 <FOR>, 'rain' and 'b'"),
        ("xml", JAVABAYES.replace("US-ASCII", "EBCDIC-9"), "has the encoding 'EBCDIC-9', which is not known"),
        ("xdsl", SMALL.format("<probabilities>1 0</probabilities><probabilities>0 1</probabilities>"), "a <cpt> has 2 <probabilities>, '1 0' and '0 1'"),
        ("xdsl", SMALL.format("").replace("</nodes>", "</nodes><nodes></nodes>"), "a <smile> has 2 <nodes>"),
        ("xdsl", "<a/>", "must be a <smile> with <nodes>, not <a>"),
        ("xdsl", SMALL.format(""), "'a' has no <probabilities>"),
        ("xdsl", SMALL.format("<parents>b</parents><probabilities>1 0</probabilities>"), "the table of 'a' names 'b', which is not a variable"),
        ("xdsl", SMALL.format("<parents>a</parents><probabilities>1 0</probabilities>"), "'a' occurs twice in the table of 'a'"),
        ("xdsl", SMALL.replace("cpt", "equation").format(""), "'a' is a node of the kind equation"),
        ("xdsl", '<!DOCTYPE a [<!ENTITY b "b">]>' + SMALL.format(""), "line 1: declares an entity"),
        ("net", 'net { name = "x', 'line 1: a quote " is not closed'),
        ("net", "net {", "line 1: ends too early"),
        ("net", "net {}\nnode a { }", "line 2: 'a' has no states"),
        ("net", "net {}\ncontinuous node a { }", "line 2: 'a' is a continuous node"),
        ("net", NET.format("a", "0.5 0.6"), "line 1: a distribution of 'a' sums to 1.1, not to 1"),
        ("net", NET.format("a b", "1"), "line 1: a potential must be of one node given others"),
        ("net", NET.format("b", "1 0"), "line 1: the table of 'b' names 'b', which is not a variable"),
        ("net", NET.format("a", "normal(0, 1)"), "line 1: a probability of 'a' is not a number: 'normal'"),
        ("net", "nodes", "line 1: ends too early"),
        ("uai", "", "ends before BAYES"),
        ("uai", "MARKOV 1", "begins with 'MARKOV'"),
        ("uai", "BAYES 999999999 2", "announces 999,999,999 things and has 3 words: it is cut off"),
        ("uai", "BAYES 1 999999999 1 1 0 2 1 0", "announces 999,999,999 things"),
        ("uai", "BAYES 1 2 1 1 0 2 0.5", "ends before the probabilities of 'V0'"),
        ("uai", "BAYES 1 2 1 1 1 2 0.5 0.5", "a table names the variable 1, and there are 1, from 0 on"),
        ("uai", "BAYES 1 2 1 1 0 2 0.5 0.5 7", "goes on after the last table, with '7'"),
        ("uai", "BAYES x", "the number of variables is 'x', not a whole number"),
        ("uai", "BAYES 2 2 2 2 2 0 1 2 1 0 4 1 0 0 1 4 1 0 0 1", "the graph has a cycle: V0 → V1 → V0"),
    ],
)  # fmt: skip
def test_bad_files_get_one_line(ending, text, line, refused):
    assert refused(f"n.{ending}", text, read_network).startswith(line)


@pytest.mark.parametrize(
    ("ending", "text"), [("xml", JAVABAYES), ("net", HUGIN), ("xdsl", GENIE), ("uai", UAI)], ids=str
)
def test_every_cut_file_gets_one_line(ending, text, refused):
    for length in range(0, len(text.rstrip()) - 1, 7):
        if ending == "uai" and text[length - 1 : length + 1].strip() != text[length - 1 : length + 1]:
            continue
        refused(f"n.{ending}", text[:length], read_network)


FRENCH = """<?xml version="1.0" encoding="UTF-8"?>
<BIF><NETWORK><NAME>météo</NAME>
<VARIABLE TYPE="nature"><NAME>été</NAME><OUTCOME>à Noël</OUTCOME><OUTCOME>non</OUTCOME></VARIABLE>
<DEFINITION><FOR>été</FOR><TABLE>0.25 0.75</TABLE></DEFINITION></NETWORK></BIF>
"""


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("ISO-8859-1", "latin-1"),
        ("iso-8859-15", "iso-8859-15"),
        ("windows-1252", "cp1252"),
        ("UTF-16", "utf-16"),  # with a mark
        ("UTF-16", "utf-16-le"),
        ("UTF-16", "utf-16-be"),
        ("UTF-16", "utf-8"),  # what text editors leave of it
        ("US-ASCII", "utf-8"),
        ("UTF-8", "utf-8-sig"),
    ],
)
def test_xml_in_the_encoding_that_it_declares(declared, encoding, tmp_path):
    """The oracle is the text itself, encoded by Python."""
    (tmp_path / "n.xml").write_bytes(FRENCH.replace("UTF-8", declared).encode(encoding))
    found = read_network(tmp_path / "n.xml")
    assert (found.name, dict(found.levels)) == ("météo", {"été": ("à Noël", "non")})
    assert found.tables["été"].tolist() == [0.25, 0.75]
    graph = f'<?xml version="1.0" encoding="{declared}"?><graphml><graph><node id="été"/></graph></graphml>'
    (tmp_path / "g.graphml").write_bytes(graph.encode(encoding))
    assert read_graph(tmp_path / "g.graphml").nodes == ("été",)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_entities_are_refused_in_every_encoding(encoding, tmp_path):
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE a [<!ENTITY b "é">]><BIF>&b;</BIF>'
    (tmp_path / "n.xml").write_bytes(text.encode(encoding))
    with pytest.raises(FormatError, match="line 1: declares an entity"):
        read_network(tmp_path / "n.xml")
    (tmp_path / "n.graphml").write_bytes(text.encode(encoding))
    with pytest.raises(FormatError, match="has a document type declaration"):
        read_graph(tmp_path / "n.graphml")


def test_half_a_character_is_refused(tmp_path):
    (tmp_path / "n.xml").write_bytes(FRENCH.encode("utf-16")[:-1])
    with pytest.raises(FormatError, match=r"n\.xml: line \d+: is not UTF-16.* text; save the file as UTF-8"):
        read_network(tmp_path / "n.xml")


def test_too_many_parents_are_refused(refused):
    names = [f"x{k}" for k in range(MOST_PARENTS + 2)]
    cards, scopes = " ".join("1" for _ in names), "\n".join(f"1 {k}" for k in range(len(names) - 1))
    numbers = "\n".join("1 1.0" for _ in names)
    text = f"BAYES {len(names)} {cards} {len(names)} {scopes}\n{len(names)} {' '.join(map(str, range(len(names))))}\n{numbers}"
    assert refused("n.uai", text, read_network) == "'x64' has 64 parents; 63 can be read".replace(
        "x64", "V64"
    )


def test_graphs_and_other_networks_are_refused(tmp_path):
    for ending, name in (("xmlbif", "XMLBIF"), ("net", "Hugin"), ("xdsl", "XDSL"), ("uai", "UAI")):
        with pytest.raises(FormatError, match=f"{name} needs parameters and not only a graph"):
            write_graph(DAG("ab"), tmp_path / f"g.{ending}")
        line = dagora.GaussianNetwork(DAG("a"), {"a": 0.0}, {"a": np.zeros(0)}, {"a": 1.0})
        with pytest.raises(FormatError, match=f"{name} holds discrete networks only"):
            write_network(line, tmp_path / f"g.{ending}")
