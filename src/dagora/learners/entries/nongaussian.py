"""Non-Gaussian noise, whose shape determines directions."""

from __future__ import annotations

from dagora.base.options import Option
from dagora.learners.method import NO_PARENT_LIMIT, Method

NONGAUSSIAN = (
    Method(
        name="lingam",
        summary="DirectLiNGAM: linear relations with noise that is not normal, which shows directions",
        takes="statistics",
        returns="dag",
        promise="an order found greedily, edges pruned by BIC; warns where the noise may be normal",
        reference="Shimizu et al. 2011; Hyvärinen & Smith 2013",
        learner="dagora.learners.nongaussian.direct_lingam:lingam",
        obeys=NO_PARENT_LIMIT,
        needs_rows=True,
        instead_in_time="var-lingam",
    ),
    Method(
        name="ica-lingam",
        seldom=True,
        summary="LiNGAM by independent components: all equations at once; lingam is more accurate",
        takes="statistics",
        returns="dag",
        promise="an order from a local optimum of FastICA, which can depend on where columns stand; edges "
        "pruned by BIC; warns as lingam does",
        reference="Shimizu, Hoyer, Hyvärinen & Kerminen 2006; Hyvärinen 1999",
        learner="dagora.learners.nongaussian.ica_lingam:ica_lingam",
        obeys=NO_PARENT_LIMIT,
        options=(Option("max_steps", "int", 1000, "most steps of FastICA", low=1),),
        needs_rows=True,
        instead_in_time="var-lingam",
    ),
)
