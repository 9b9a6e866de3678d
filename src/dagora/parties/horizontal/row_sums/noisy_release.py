"""What a site adds to a release with noise: sums over its rows, and its share of the noise.

The noise is drawn afresh for each release. The site's log keeps its part, and gives the same part again when
the same plan comes again, so that nothing can be averaged away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.parties.horizontal.plan.coded_rows import CodedRows
from dagora.parties.horizontal.plan.plan import Plan
from dagora.parties.horizontal.row_sums.answers import joint_counts
from dagora.parties.privacy.moment_features import BITS, moment_features
from dagora.parties.privacy.noisy_moments import NoisyMoments
from dagora.parties.privacy.noisy_pairs import NoisyPairs
from dagora.parties.privacy.pair_tables import pairs_of
from dagora.parties.privacy.release import feature_size, noisy_statistics, site_noise
from dagora.parties.privacy.terms import PrivacyTerms

KEY_BYTES = 32


def release_size(plan: Plan, terms: PrivacyTerms) -> int:
    """How many numbers are released."""
    return feature_size(terms, plan.codebook.schema)


def released_sums(rows: CodedRows, terms: PrivacyTerms) -> NDArray[np.int64]:
    """The sums over the rows, without noise: additive, and moved by one row no more than the terms say."""
    if terms.release == "pairs":
        return joint_counts(rows, pairs_of(len(rows.schema)))
    # No more bits than squares and products of a row have room for.
    spare = max(0, rows.bits - BITS)
    numbers = (rows.numbers + ((1 << spare) >> 1)) >> spare
    return moment_features(numbers.T, terms.row_bound or 0.0, rows.bits - spare)


def release_part(rows: CodedRows, terms: PrivacyTerms, key: bytes) -> NDArray[np.int64]:
    """A site's part of the release; `key` is secret, and used once."""
    sums = released_sums(rows, terms)
    return sums + site_noise(key, terms, len(sums))


def read_release(sums: NDArray[np.int64], plan: Plan, terms: PrivacyTerms) -> NoisyPairs | NoisyMoments:
    """What the sum over all sites is good for."""
    ranges = [(coding.low, coding.high) for coding in plan.codebook.continuous]
    return noisy_statistics(terms, plan.codebook.schema, ranges or None, sums)
