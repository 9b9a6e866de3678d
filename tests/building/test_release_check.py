"""What `make release` refuses."""

import zipfile

import pytest
from building.release import faults, fits_here

KERNEL = "dagora/compiled_kernels/a.nbc"
SDIST, PURE = "dagora-1.2.tar.gz", "dagora-1.2-py3-none-any.whl"
PLATFORM = "dagora-1.2-cp311-cp311-manylinux_2_17_x86_64.whl"


def put(folder, files):
    for name, content in files.items():
        if name.endswith(".whl"):
            with zipfile.ZipFile(folder / name, "w") as archive:
                for each in content:
                    archive.writestr(each, "")
        else:
            (folder / name).write_text("")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({SDIST: (), PURE: (), PLATFORM: (KERNEL,)}, []),
        ({SDIST: (), PURE: (), "dagora-1.2-cp311-cp311-linux_x86_64.whl": (KERNEL,)}, ["no index takes linux_x86_64"]),
        ({SDIST: (), PURE: (), "dagora-1.2-cp313-cp313-macosx_14_0_arm64.whl": (KERNEL,), "dagora-1.2-cp313-cp313-win_amd64.whl": (KERNEL,)}, []),
        ({SDIST: (), PURE: ()}, ["no platform wheel"]),
        ({PURE: (), PLATFORM: (KERNEL,)}, ["0 of kind sdist"]),
        ({SDIST: (), PLATFORM: (KERNEL,)}, ["0 of kind pure wheel"]),
        ({SDIST: (), PURE: (), PLATFORM: ()}, ["a platform wheel without kernels"]),
        ({SDIST: (), PURE: (KERNEL,), PLATFORM: (KERNEL,)}, ["a pure wheel with compiled kernels"]),
        ({SDIST: (), PURE: (), PLATFORM: (KERNEL, "dagora/a.so")}, ["nobody has checked: dagora/a.so"]),
        ({"dagora-1.1.tar.gz": (), PURE: (), PLATFORM: (KERNEL,)}, ["dagora-1.1.tar.gz: not dagora 1.2"]),
        ({SDIST: (), PURE: (), PLATFORM: (KERNEL,), "notes.txt": ()}, ["notes.txt: neither"]),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, files, told):
    put(tmp_path, files)
    found = faults(tmp_path, "1.2")
    assert len(found) == len(told)
    for line, part in zip(found, told, strict=True):
        assert part in line


def test_only_what_fits_is_tried(tmp_path):
    assert fits_here(tmp_path / SDIST)
    assert fits_here(tmp_path / PURE)
    assert not fits_here(tmp_path / "dagora-1.2-cp27-cp27m-manylinux_2_17_x86_64.whl")
