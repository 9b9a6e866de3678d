"""Reproduction pages state their size first, and “as published” is said only of what is.

It is looked for in the documents, in the help of every option, method, sampler and score, and in the code.

Of a method: one that has the option `published`, with which it is the paper's algorithm. Of anything else: a
sentence that is listed here with the reason why it is true.
"""

import re
from pathlib import Path

import pytest
from building.claims.row import hours_of

from dagora.learners.registry import METHODS
from dagora.papers.registry import ITEMS
from dagora.posterior.registry import SAMPLERS
from dagora.scores.registry import SCORES
from tests.documents.test_site_pages import page, table_rows

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reproductions"
PAGES = {item.name.replace("/", "-"): item for item in ITEMS}
GUIDES = {"rbnets"}  # written by hand, on several pages together


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_states_its_size_in_its_first_line(page: Path) -> None:
    first, _, command = page.read_text(encoding="utf-8").splitlines()[:3]
    if page.stem in GUIDES:
        assert re.search(r"\b(quick|full) size\b", first)
        return
    item = PAGES[page.stem]
    full = command.strip("`").endswith(" --full")
    assert command.startswith(f"`dagora reproduce {item.name}")
    assert f"({item.size(full=full)}" in first
    incomplete = re.search(r"\*\*Incomplete: (.+)\.\*\*", page.read_text(encoding="utf-8"))
    assert first.endswith(f"; {incomplete[1]})" if incomplete else f"{item.size(full=full)})")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_size_is_a_number(item) -> None:
    for full in (False, True):
        assert re.search(r"\d", item.size(full=full))


# Each part of the summary paragraph of the page of claims, the claim that it sums up, and its verdict there.
SUMMARY = [
    ("ADMM does what its paper says", "lowest SHD at every d", "holds"),
    ("but for some of its sentences about the baselines", "with few sites the baselines are better", "fails"),
    ("not all of it on standardised proteins", "proteins: ADMM is better than all data", "fails** on standardised"),
    ("with enough rows one secure sum of second moments is closer", "one secure sum of second moments does better", "holds with 256 rows"),
    ("with 30 rows of 10 variables it is further from it than ADMM", "one secure sum of second moments does better", "with 3 d rows **fails** at d = 10"),
    ("where rows are many and noise variances are equal", "NOTEARS is clearly better on dense ones", "holds with 1000 rows"),
    ("its lead over a stricter GES is small or gone", "and its lead grows with d", "fails** with 20 (stricter GES)"),
    ("nearer to the truth than BGe on curved relations under sparse priors", "GP is nearer to the truth than BGe", "under a sparse one: holds"),
    ("that cannot be told on 80 graphs", "GP is nearer to the truth than BGe", "which the paper states: cannot be told"),
    ("on linear relations they are further", "and competitive with it on linear", "uniform prior: **fails**"),
    ("and on the proteins, too", "proteins: GP has fewer errors", "fails"),
    ("They are nearer than kernel PC and DiBS+ on curved relations under every prior", "GP is nearer than kernel PC", "uniform prior: holds; sparse: holds; authors' settings: holds"),
    ("Private K2 works as stated", "the graph is that of K2 on joined rows", "holds"),
    ("its approximation of the score often changes the graph", "g may stand for f", "fails"),
    ("RBNets is slower than plain searches", "faster than exact and heuristic searches", "fails"),
    ("that find the same or better", "better scores than the others, known", "fails"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "claim", "verdict"), SUMMARY, ids=lambda text: text[:30])
def test_the_summary_of_the_papers_says_what_their_verdicts_say(words, claim, verdict) -> None:
    text = page("papers/index.md")
    summary = " ".join(text[text.index("**In one paragraph.**") : text.index("**How to read it.**")].split())
    assert words in summary
    [said] = [row[1] for row in table_rows(text) if len(row) == 6 and claim in row[0]]
    assert verdict in said


# What the page of ADMM says of sentences of the paper, the claim, and its verdict on the page of claims.
OF_ADMM = [
    ("Its lead grows with d (6.1): holds over Voting and Best; over Avg it **fails** from 20 to 50 (330 runs", "the lead grows with d", "**fails** over Avg from 20 to 50"),
    ("Avg has lower SHDs than Voting (6.1): **fails** at d = 10, 20 and 50", "Avg has lower SHDs", "fails** at d = 10 and 20 and 50"),
    ("(at d = 50 with 330 runs", "Avg has lower SHDs", "fails"),
    ("with 50 variables and 4 sites it **fails** for Best", "with few sites", "fails** for Best with 4 sites at d = 50"),
    ("it **fails** against all data", "proteins: ADMM is better than all data", "fails** on standardised"),
    ("better than the others and steadier (6.4, figures 4 and 8): holds", "with networks", "8 sites; steadier: holds"),
    ("nearer all data: cannot be told with 2", "with networks", "with 2 sites, holds with 4 and 8 sites"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "claim", "verdict"), OF_ADMM, ids=lambda text: text[:30])
def test_the_page_of_admm_says_what_the_page_of_claims_says(words, claim, verdict) -> None:
    assert words in " ".join(page("papers/admm.md").split())
    [said] = [row[1:] for row in table_rows(page("papers/index.md")) if len(row) == 6 and claim in row[0]]
    assert verdict in said[0]
    runs = re.search(r"with (\d+) runs", words)
    assert runs is None or f"{runs[1]} runs" in " ".join(said)


def test_hours_of_admm_are_those_of_the_kept_cells() -> None:
    hours = sum(hours_of(f"admm-fig{figure}") for figure in (1, 2, 3, 5))
    assert f"({hours:.1f} hours of CPU time in all)" in page("papers/admm.md")
    assert f"figures 1, 2, 3 and 5: {hours:.1f} hours of CPU time" in page("reproductions.md")
    assert f"admm/fig4-d20 --full      # {hours_of('admm-fig4-d20'):.1f} CPU hours" in page(
        "reproductions.md"
    )


def test_no_sentence_of_the_summary_is_without_a_verdict() -> None:
    """A sentence that is new or reworded gets its line above."""
    text = page("papers/index.md")
    summary = " ".join(text[text.index("**In one paragraph.**") : text.index("**How to read it.**")].split())
    for sentence in re.split(r"(?<=[.;]) ", summary.removeprefix("**In one paragraph.** ")):
        assert any(words in sentence for words, _, _ in SUMMARY), sentence


WORDS = re.compile(
    r"\bas (?:published|printed|the paper did it)\b|\bto the letter\b|(?<!not )\bas in the (?:paper|published)\b",
    re.IGNORECASE,
)
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
CODE = sorted((ROOT / "src").rglob("*.py"))
# File, words around, and why it is true: a method with the option, or a reason that needs none.
ALLOWED = [
    ("CHANGELOG.md", "Reinforcement learning over orders, as published but for the order returned", "rbnets"),
    (
        "docs/reproductions.md",
        "RBNets as published (but for the order returned), with other states",
        "rbnets",
    ),
    ("docs/reproductions.md", "ADMM (ours, and as published)", "admm"),
    ("docs/reproductions.md", "is algorithm 1 as printed, `admm published=true`", "admm"),
    (
        "docs/reproductions/admm-privacy.md",
        "As published, the coordinator is sent B_k",
        "equation 5 and algorithm 1 of the paper: what a site sends in round 1, not one of our methods",
    ),
    (
        "src/dagora/papers/admm/privacy.py",
        "every S_k: in one round as published",
        "equation 5 and algorithm 1: what a site sends in round 1",
    ),
    (
        "src/dagora/papers/admm/privacy.py",
        "As published, the coordinator is sent B_k",
        "equation 5 and algorithm 1: what a site sends in round 1",
    ),
    (
        "src/dagora/parties/horizontal/learners/admm.py",
        "As published, every site shows the coordinator",
        "algorithm 1, lines 3 and 6: the server collects every B_k and updates β_k itself by (7)",
    ),
    (
        "src/dagora/parties/horizontal/learners/consensus.py",
        "algorithm 1 of Ng & Zhang (2022) as published",
        "admm",
    ),
    (
        "src/dagora/parties/horizontal/learners/admm_mlp_site.py",
        "as published, it goes on to the end",
        "admm-mlp",
    ),
    (
        "src/dagora/parties/horizontal/learners/acyclic_prox.py",
        "As printed, W is any matrix",
        "appendix B: no bounds on W",
    ),
    (
        "src/dagora/parties/horizontal/learners/columns.py",
        "`local`, as published for the linear case",
        "section 5.1: each client centres its rows, “which we adopt”",
    ),
    (
        "src/dagora/learners/search/rbnets/published.py",
        "RBNets as published (but for the order returned): Algorithm 1",
        "rbnets",
    ),
    (
        "docs/reproductions.md",
        "uncut as in the paper",
        "section 6, “Methods”: no post-processing removes cycles of votes and means",
    ),
    ("docs/posterior.md", "NUTS and bridge sampling, as in the paper", "equation 12 and section 3.1"),
    ("src/dagora/scores/gp/score.py", "NUTS draws and bridge sampling, as in the paper", "equation 12"),
    ("src/dagora/scores/gp/bridge.py", "N₁ = N₂ = 300 as in the paper", "section 3.1: 300 particles each"),
    ("src/dagora/scores/gp/bridge.py", "DRAWS = 300 # as in the paper", "section 3.1: 300 particles each"),
    ("src/dagora/scores/gp/prior.py", "as in the published code (section 4.1", "the code, not a method"),
    ("src/dagora/cli/simulate.py", "as in the published code of its paper", "the code, not a method"),
    (
        "src/dagora/learners/optimise/mlp/program.py",
        "As in the published code, an entrywise",
        "the code, not a method",
    ),
    ("src/dagora/papers/notears/weight_maps.py", "One random graph, as in the paper", "figures 1 and 2"),
    (
        "src/dagora/papers/notears/table1.py",
        "weights below 0.3, as in the paper",
        "a fixed ω (section 4.3); 0.3 by Ng & Zhang, section 6",
    ),
    (
        "src/dagora/papers/gpn/fig3.py",
        "(300 + 300 particles, as in the paper)",
        "section 3.1: 300 particles each",
    ),
    ("src/dagora/papers/gpn/table1.py", "standardised, as in the published code", "the code, not a method"),
    ("src/dagora/papers/gpn/contest.py", "As in the published code, the weights", "the code, not a method"),
    (
        "src/dagora/papers/gpn/fig1_report.py",
        "enlarged while that pays, as in the p",
        "the authors' code; section 3.1 has dual PC without its level",
    ),
    ("src/dagora/papers/admm/sachs.py", "graph of 17 edges, as in the paper", "section 6.3"),
    ("src/dagora/papers/admm/sachs.py", "their cycles as in the paper", "section 6, “Methods”"),
    ("src/dagora/papers/admm/nonlinear.py", "their cycles as in the paper", "section 6, “Methods”"),
    ("src/dagora/papers/admm/privacy.py", "as in the paper's largest setting", "section 6.2: 256 / 64 rows"),
    (
        "src/dagora/parties/horizontal/learners/admm_mlp.py",
        "has no lambda2, as in the paper",
        "appendix B names λ alone",
    ),
    ("src/dagora/papers/rbnets/table2.py", "marked OT or OM, as in the paper", "table 2, its caption"),
    ("src/dagora/papers/rbnets/spreads.py", "OM for memory, each as in the paper", "table 2, its caption"),
    ("src/dagora/papers/rbnets/differences.py", "sets: 30, as in the paper", "section 4.6: 5 × 6 data sets"),
]


def said() -> list[tuple[str, str]]:
    """Where the words stand: the file, and the words with what surrounds them."""
    found = []
    for file in (*DOCUMENTS, *CODE):
        # Text in source that goes on in the next line is one text; so is a comment.
        text = " ".join(re.sub(r'"\n\s*f?"|\n\s*#', "", file.read_text(encoding="utf-8")).split())
        for match in WORDS.finditer(text):
            around = text[max(0, match.start() - 80) : match.end() + 80]
            found.append((str(file.relative_to(ROOT)), around))
    return found


def helps() -> dict[str, str]:
    """Everything that `dagora methods` says, by where it says it."""
    found = {}
    for entry in (*METHODS, *SAMPLERS, *SCORES):
        kind = type(entry).__name__.lower()
        found[f"{kind} {entry.name}"] = f"{entry.summary}. {getattr(entry, 'promise', '')}"
        found |= {f"{kind} {entry.name}: {option.name}": option.summary for option in entry.options}
    return found


# What a help says of a paper or of published code, each read beside the code on the day it was listed.
ABOUT_PAPERS = re.compile(
    r"\bpublished\b|\bpaper|\bauthors\b|\bequation\b|\beq\.|\balgorithm \d", re.IGNORECASE
)
HELPS = {
    "method rbnets: published": (
        "the paper's algorithm alone, without order search: states from walks, raw rewards; with the "
        "score gp2 also that score's published"
    ),
    "method rbnets: state": (
        "input of the neural network: placed variables as bits (set) or random-walk vectors (walk); "
        "without it, walk if published, else set"
    ),
    "method rbnets: reward": (
        "what the network learns from: scores as they are (raw, equation 7 of the paper) or scaled "
        "gains over no parents (gain); without it, raw if published, else gain"
    ),
    "method notears": (
        "weights of an acyclic linear model, by continuous optimisation. exactly acyclic weights; "
        "many orders are compared after thresholding, unless published=true"
    ),
    "method notears: published": (
        "algorithm 1 of the paper and nothing after it but the cut of cycles that are left: weak "
        "weights are set to zero, the others not refitted"
    ),
    "method notears: inner": (
        "the inner solver of published=true: split (the default) is that of the authors' code, "
        "L-BFGS-B on W⁺ − W⁻; proximal is that of the paper, quasi-Newton with an active set"
    ),
    "method notears: intercept": (
        "loss=logistic and loss=poisson: fit an intercept for each column (default; not with "
        "published=true, because the paper's models have none)"
    ),
    "method admm: published": (
        "algorithm 1 of the paper: penalties grow every round, residuals do not stop it; the result "
        "says what is not as there"
    ),
    "method admm: centre": (
        "centre the columns at the mean over all sites (global), at each site's own mean (local), or "
        "not; without it, global; published has its own"
    ),
    "method admm: tolerance": "the sites agree when residuals are this small; without it, 0.001; not with published",
    "method admm-mlp: lambda1": "penalty on the weights of the first layer; without it, 0.01, or 0.001 if published",
    "method admm-mlp: lambda2": "ridge penalty on all weights; without it, 0.01, or none if published",
    "method admm-mlp: published": (
        "algorithm 1 of the paper: penalties grow every round, residuals do not stop it; the result "
        "says what is not as there"
    ),
    "method admm-mlp: centre": (
        "centre the columns at the mean over all sites (global), at each site's own mean (local), or "
        "not; without it, global; published has its own"
    ),
    "method admm-mlp: tolerance": "the sites agree when residuals are this small; without it, 0.01; not with published",
    "method rl-bic: threshold": (
        "drop edges of smaller weight in the end (the paper: 0.3; linear scores only); without it, edges whose "
        "removal does not lower the score"
    ),
    "score gp2: published": (
        "kernel of the published code: τ₁² and τ₂τ₁⁴ in place of eq. 18's τ₁ and τ₂; with the method "
        "rbnets also that method's published"
    ),
}


def test_helps_about_papers_are_those_that_were_checked() -> None:
    """A help that is new or reworded is compared with the code by whoever lists it here."""
    assert {where: text for where, text in helps().items() if ABOUT_PAPERS.search(text)} == HELPS


@pytest.mark.parametrize("where", sorted(HELPS))
def test_a_help_speaks_of_published_only_where_the_option_is(where: str) -> None:
    kind, name = where.split(":")[0].split()
    entries = {"method": METHODS, "score": SCORES}[kind]
    options = {option.name for entry in entries if entry.name == name for option in entry.options}
    assert "published" not in HELPS[where] or "published" in options


def test_as_published_is_said_only_of_what_is() -> None:
    """A page may say what the code that writes it may."""
    pages = {str((FOLDER / f"{stem}.md").relative_to(ROOT)) for stem in PAGES}
    wrong = [
        (file, around)
        for file, around in said()
        if not any(
            words in around and (file == where or (file in pages and where.startswith("src/dagora/papers/")))
            for where, words, _ in ALLOWED
        )
    ]
    assert not wrong, "reword, or list the place with the reason why it is true"


def test_what_is_allowed_stands_there_and_holds() -> None:
    published = {m.name for m in METHODS if any(o.name == "published" for o in m.options)}
    spoken = said()
    for file, words, reason in ALLOWED:
        assert any(file == where and words in around for where, around in spoken), f"no longer said: {words}"
        assert reason in published or " " in reason, f"{reason} has no option published=true"
