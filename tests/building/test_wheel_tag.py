"""The tag of a wheel with kernels: read from machine code that LLVM makes of functions with known calls."""

import sys

import llvmlite.binding as llvm
import pytest

from building import wheel_tag

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have hatchling's tag")
CALL = "declare void @{0}()\ndefine void @kernel_{0}() {{\n call void @{0}()\n ret void\n}}\n"


def machine_code(*functions: str) -> bytes:
    """What numba keeps: an object file, with other things before and after it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly("".join(map(CALL.format, functions)))
    machine = llvm.Target.from_default_triple().create_target_machine()
    return b"before" + machine.emit_object(module) + b"after"


def test_the_functions_that_a_kernel_calls():
    assert set(wheel_tag.called_functions(machine_code("log", "NRT_Free", "getrandom"))) == {
        "log", "NRT_Free", "getrandom",
    }  # fmt: skip
    assert list(wheel_tag.called_functions(b"no machine code")) == []


@pytest.mark.parametrize(
    ("function", "version"),  # from the release notes of glibc
    [
        ("getrandom", (2, 25)),
        ("reallocarray", (2, 26)),
        ("secure_getenv", (2, 17)),
        ("no_such_function", None),
    ],
)
def test_the_first_glibc_with_a_function(function, version):
    assert wheel_tag.glibc_with(function) == version


def test_what_every_glibc_has_is_no_newer_than_the_oldest_tag():
    assert all(wheel_tag.glibc_with(name) <= wheel_tag.OLDEST for name in ("exp", "log", "lgamma", "memcpy"))


@pytest.mark.parametrize(
    ("functions", "platform"),
    [
        (("log", "NRT_Free", "numba_do_raise", "PyErr_Clear"), "manylinux_2_17_"),
        (("log", "getrandom"), "manylinux_2_25_"),
    ],
)
def test_the_tag_names_the_oldest_glibc_that_has_all(tmp_path, functions, platform):
    for place, function in enumerate(functions):
        (tmp_path / f"{place}.nbc").write_bytes(machine_code(function))
    python, abi, where = wheel_tag.linux_tag(tmp_path).split("-")
    assert python == abi == f"cp3{sys.version_info.minor}"
    assert where.startswith(platform)


def test_a_function_that_nobody_has_is_named(tmp_path):
    (tmp_path / "kernel.nbc").write_bytes(machine_code("log", "__svml_exp4"))
    with pytest.raises(SystemExit, match="__svml_exp4"):
        wheel_tag.linux_tag(tmp_path)


def test_a_folder_without_machine_code_gets_no_tag(tmp_path):
    (tmp_path / "kernel.nbc").write_bytes(b"nothing")
    with pytest.raises(SystemExit, match="no machine code"):
        wheel_tag.linux_tag(tmp_path)
