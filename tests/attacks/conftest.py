"""What attackers have: certificates of the authority, as members of a federation do."""

from tests.parties.conftest import credentials

__all__ = ["credentials"]
