"""What a site adds to a release with noise: sums over its rows, and its share of the noise.

The noise follows from a secret of the site, the plan and the rows. Asked again for the same release, the site
gives the same answer, so that nothing can be averaged away and nothing new is told; any other plan, or other
rows, have noise of their own.
"""

from __future__ import annotations

import hmac

import numpy as np
from numpy.typing import NDArray

from dagora.parties.horizontal.plan.coded_rows import CodedRows
from dagora.parties.horizontal.plan.plan import Plan
from dagora.parties.horizontal.row_sums.answers import joint_counts
from dagora.privacy.moment_features import moment_features
from dagora.privacy.noisy_moments import NoisyMoments
from dagora.privacy.noisy_pairs import NoisyPairs
from dagora.privacy.pair_tables import pairs_of
from dagora.privacy.release import feature_size, noisy_statistics, site_noise
from dagora.privacy.terms import PrivacyTerms


def release_size(plan: Plan, terms: PrivacyTerms) -> int:
    """How many numbers are released."""
    return feature_size(terms, plan.codebook.schema)


def released_sums(rows: CodedRows, terms: PrivacyTerms) -> NDArray[np.int64]:
    """The sums over the rows, without noise: additive, and moved by one row no more than the terms say."""
    if terms.release == "pairs":
        return joint_counts(rows, pairs_of(len(rows.schema)))
    return moment_features(rows.numbers.T, terms.row_bound or 0.0, rows.bits)


def noise_key(secret: bytes, plan: Plan, rows: CodedRows) -> bytes:
    """A key for this plan and these rows alone."""
    return hmac.digest(secret, b"dagora noise\0" + plan.digest + bytes.fromhex(rows.digest), "sha256")


def release_part(rows: CodedRows, plan: Plan, terms: PrivacyTerms, secret: bytes) -> NDArray[np.int64]:
    """A site's part of the release."""
    sums = released_sums(rows, terms)
    return sums + site_noise(noise_key(secret, plan, rows), terms, len(sums))


def read_release(sums: NDArray[np.int64], plan: Plan, terms: PrivacyTerms) -> NoisyPairs | NoisyMoments:
    """What the sum over all sites is good for."""
    ranges = [(coding.low, coding.high) for coding in plan.codebook.continuous]
    return noisy_statistics(terms, plan.codebook.schema, ranges or None, sums)
