"""Keys and logs are the owner's alone."""

import os

import pytest

from dagora import DataError
from dagora.parties.private_file import check_private, exposure_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs modes of files")


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601])
def test_any_right_of_others_is_too_much(tmp_path, mode: int) -> None:
    file = tmp_path / "my key"
    file.write_text("secret")
    file.chmod(mode)
    assert exposure_of(file) == f"make it private: chmod 600 '{file}'"
    with pytest.raises(DataError, match=r"other users of this machine may read this key; .*chmod 600"):
        check_private(file, "key", DataError)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_the_owner_may_have_all_rights(tmp_path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text("secret")
    file.chmod(mode)
    assert exposure_of(file) == ""
    check_private(file, "key", DataError)
