"""The attacker puts machine code where a victim's process will look for compiled kernels, and run them."""

import os
import tempfile

import pytest

from dagora.kernels.cache import private_temporary_folder


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used(mode, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"dagora-kernels-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o700)
    assert private_temporary_folder.__wrapped__() == folder
    folder.chmod(mode)
    assert private_temporary_folder.__wrapped__() is None
