"""The scores by name: the columns they take, their options and references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from dagora.base.errors import OptionError
from dagora.base.loading import load
from dagora.base.options import Option, check_options, find_in_any_case
from dagora.base.wording import setting
from dagora.data.schema import Kind, Schema
from dagora.scores.interventional import InterventionalScore
from dagora.scores.penalty import AUTO, ChosenPenalty, choose_penalty
from dagora.stats.capabilities import capabilities_of
from dagora.stats.interventional import InterventionalStatistics

if TYPE_CHECKING:
    from dagora.scores.local_score import LocalScore
    from dagora.stats.statistics import Statistics


@dataclass(frozen=True)
class Score:
    """A score's entry; `factory` is imported only when the score is used.

    `kind` is that of the columns it takes; "mixed" takes any, of one kind or of both. `equivalent` says that
    equivalent graphs have the same score, `needs_rows` that counts and moments are not enough and the rows
    themselves are needed, `observed` is the factory for missing values, `in_nats` that it is a logarithm of
    a probability, or approximates one, `linear` that of continuous columns it sees linear relations only.
    """

    name: str
    summary: str
    kind: Kind | Literal["mixed"]
    factory: str
    reference: str
    equivalent: bool
    options: tuple[Option, ...] = ()
    needs_rows: bool = False
    observed: str = ""
    in_nats: bool = True
    linear: bool = False

    @property
    def tells_class_only(self) -> bool:
        """True if directions beyond the class of graphs mean nothing: those of K2 come from its prior."""
        return self.equivalent or self.kind is Kind.DISCRETE

    def penalty(self, statistics: Statistics, asked: object) -> ChosenPenalty:
        """The factor on the price of a parameter for some data: a number, `auto`, or None for the default."""
        if not any(option.name == "penalty" for option in self.options):
            return ChosenPenalty(1.0)
        if capabilities_of(statistics).score is not None and not isinstance(asked, float):
            if asked == AUTO:
                raise OptionError(
                    f"{setting('penalty', AUTO)} does not know noise for privacy: give a number"
                )
            return ChosenPenalty(1.0)
        return choose_penalty(asked, statistics.schema, statistics.n_rows)

    def make(self, statistics: Statistics, **options: object) -> LocalScore:
        """Create the score for some data."""
        values = check_options(f"the score {self.name}", self.options, options)
        can = capabilities_of(statistics)
        if "penalty" in values:  # a score that is not asked otherwise is BIC as it was published
            asked = 1.0 if values["penalty"] is None else values["penalty"]
            values["penalty"] = self.penalty(statistics, asked).factor
        if can.score is not None:
            return cast("LocalScore", can.score(self.name, values))
        if isinstance(statistics, InterventionalStatistics):
            return InterventionalScore(statistics, load(self.factory), values)
        if can.refuse_missing is not None and not self.observed:
            can.refuse_missing(f"the score {self.name}")
        factory = self.factory if can.refuse_missing is None else self.observed
        return cast("LocalScore", load(factory)(statistics, **values))


GP_OPTIONS = (
    Option("estimator", "text", "qmc", "how the evidence is estimated", choices=("qmc", "laplace", "bridge")),
    Option("points", "int", 256, "least number of points of the importance sampling", low=32, high=2**16),
)

PENALTY = Option(
    "penalty",
    "float",
    None,
    "factor on the price of a parameter; auto: edges by chance stay below one per 200 columns; without it 1, "
    "or auto where rows are few for so many columns",
    low=0.0,
    open_low=True,
    words=(AUTO,),
)

SCORES = (
    Score("bic", "log-likelihood − (ln m)/2 per free parameter", Kind.DISCRETE,
          "dagora.scores.information:bic", "Schwarz 1978", True, (PENALTY,),
          observed="dagora.scores.observed:bic"),
    Score("aic", "log-likelihood − 1 per free parameter", Kind.DISCRETE,
          "dagora.scores.information:aic", "Akaike 1974", True),
    Score("bdeu", "marginal likelihood, uniform Dirichlet prior", Kind.DISCRETE,
          "dagora.scores.bdeu:bdeu", "Heckerman, Geiger & Chickering 1995", True,
          (Option("ess", "float", 1.0, "equivalent sample size of the prior", low=0.0, open_low=True),)),
    Score("k2", "marginal likelihood, flat Dirichlet prior", Kind.DISCRETE,
          "dagora.scores.k2:k2", "Cooper & Herskovits 1992", False),
    Score("bic-gaussian", "BIC of linear regressions with Gaussian noise", Kind.CONTINUOUS,
          "dagora.scores.bic_gaussian:GaussianBIC", "Schwarz 1978", True, (PENALTY,),
          observed="dagora.scores.observed_gaussian:bic_gaussian", linear=True),
    Score("bge", "marginal likelihood, normal-Wishart prior", Kind.CONTINUOUS,
          "dagora.scores.bge:BGe", "Geiger & Heckerman 2002; Kuipers, Moffa & Heckerman 2014", True,
          (Option("alpha_mu", "float", 1.0, "prior sample size of the mean", low=0.0, open_low=True),
           Option("alpha_w", "float", None, "degrees of freedom of the Wishart (columns + alpha_mu + 1)"),
           Option("prior_scale", "text", "columns", "variances that the prior expects: those of the columns "
                  "(units do not matter), or 1 in the units of the columns", choices=("columns", "unit"))),
          linear=True),
    Score("bic-mixed", "BIC of columns of one kind or of both", "mixed",
          "dagora.scores.mixed.bic_mixed:MixedBIC", "Schwarz 1978; Andrews, Ramsey & Cooper 2019", True,
          (PENALTY,), observed="dagora.scores.mixed.observed_mixed:ObservedMixedBIC", linear=True),
    Score("bayes-mixed", "marginal likelihood, discrete columns before continuous ones", "mixed",
          "dagora.scores.mixed.bayes_mixed:BayesMixed", "Lauritzen 1992; Bøttcher 2001", False,
          (Option("ess", "float", 1.0, "equivalent sample size of the prior of tables", low=0.0,
                  open_low=True),
           Option("alpha_mu", "float", 1.0, "prior sample size of the means", low=0.0, open_low=True)),
          needs_rows=True, linear=True),
    Score("bic-latent", "BIC of normal variables behind ordered levels and ranks", "mixed",
          "dagora.scores.bic_latent:LatentBIC",
          "Olsson 1979; Liu, Lafferty & Wasserman 2009; Cui, Groot & Heskes 2016", True,
          (PENALTY,)),
    Score("lasso", "minus the objective of the NOTEARS program", Kind.CONTINUOUS,
          "dagora.scores.lasso:LassoScore", "Zheng, Aragam, Ravikumar & Xing 2018", False,
          (Option("lambda1", "float", 0.1, "penalty per unit of absolute weight", low=0.0),), in_nats=False,
          linear=True),
    Score("gp", "marginal likelihood of additive Gaussian processes", Kind.CONTINUOUS,
          "dagora.scores.gp.score:gp", "Giudice, Kuipers & Moffa 2023", False, GP_OPTIONS, needs_rows=True),
    Score("gp2", "marginal likelihood of Gaussian processes with interactions", Kind.CONTINUOUS,
          "dagora.scores.gp.score:gp2", "Giudice, Kuipers & Moffa 2023", False,
          (*GP_OPTIONS,
           Option("published", "bool", False, "kernel of the published code: τ₁² and τ₂τ₁⁴ in place of "
                  "eq. 18's τ₁ and τ₂; with the method rbnets also that method's published")),
          needs_rows=True),
)  # fmt: skip


def score_named(name: str) -> Score:
    """The score of that name; an error lists the names that exist."""
    return find_in_any_case("score", name, {score.name: score for score in SCORES})


def default_score(schema: Schema) -> Score:
    """BIC for discrete tables, Gaussian BIC for continuous ones, mixed BIC for those with both."""
    return default_score_of(schema.kinds)


def default_score_of(kinds: frozenset[Kind]) -> Score:
    """The default score of columns of these kinds."""
    if len(kinds) > 1:
        return score_named("bic-mixed")
    return score_named("bic-gaussian" if Kind.CONTINUOUS in kinds else "bic")
