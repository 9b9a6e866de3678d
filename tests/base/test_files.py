import contextlib
import errno
import gzip
import os
import stat
from pathlib import Path

import pytest

from dagora.base.errors import DataError, FormatError
from dagora.base.files import open_whole, read_text, write_whole


def test_text_is_utf8_and_nothing_else_is_left_behind(tmp_path):
    write_whole(tmp_path / "a.txt", "é\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa9\n"
    assert list(tmp_path.iterdir()) == [tmp_path / "a.txt"]


def test_compressed_files_are_the_same_every_time(tmp_path):
    write_whole(tmp_path / "a.gz", b"x" * 1000)
    write_whole(tmp_path / "b.gz", b"x" * 1000)
    content = (tmp_path / "a.gz").read_bytes()
    assert content == (tmp_path / "b.gz").read_bytes()
    assert content[4:8] == bytes(4)  # the time stamp
    assert gzip.decompress(content) == b"x" * 1000


def test_a_failure_half_way_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with contextlib.suppress(KeyboardInterrupt), open_whole(path) as handle:
        handle.write(b"new")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_and_links_are_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_gets_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    write_whole(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_device_is_written_to_not_replaced():
    write_whole(os.devnull, "gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_no_folder_and_a_folder_as_target(tmp_path):
    with pytest.raises(FormatError, match="there is no folder"):
        write_whole(tmp_path / "none" / "a.txt", "x")
    with pytest.raises(DataError, match="it is a folder"):
        write_whole(tmp_path, "x", error=DataError)
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "a.txt")
    with pytest.raises(FormatError, match=r"there is no folder '.*/gone'$"):
        write_whole(tmp_path / "link", "x")


def test_a_folder_that_takes_no_files(tmp_path, monkeypatch):
    """As /proc, which is there and may be written to, as far as can be seen."""

    def refuse(path, *_how):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(FormatError, match=f"no file can be made in the folder '{tmp_path}'$"):
        write_whole(tmp_path / "a.txt", "x")


def test_the_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    write_whole(tmp_path / ("n" * 255), "x")
    with pytest.raises(FormatError, match="cannot write"):
        write_whole(tmp_path / ("n" * 256), "x")


def test_the_content_is_on_disk_before_the_file_gets_its_name(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    seen = []

    def synced(descriptor):
        seen.append((os.fstat(descriptor).st_size, path.exists()))

    monkeypatch.setattr(os, "fsync", synced)
    write_whole(path, "whole")
    assert seen == [(5, False)]


def test_a_private_file_is_its_owners_alone_also_where_there_was_another(tmp_path):
    file = tmp_path / "key"
    for _ in range(2):
        write_whole(file, "secret", private=True)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o644)
    write_whole(file, "open")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_the_line_that_is_no_text_is_named(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"one\ntwo\nthr\xffe\n")
    with pytest.raises(FormatError, match="line 3: is not UTF-8 text"):
        read_text(tmp_path / "t.txt")
