"""The Tab key: click's completion offers commands, options, methods, scores and files; a real bash does too."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from dagora.cli.main import COMMANDS, cli
from tests.conftest import ROOT


def offered(*words: str) -> dict[str, str]:
    """What is offered for the last word, and of which type it is."""
    *typed, incomplete = words
    found = ShellComplete(cli, {}, "dagora", "_DAGORA_COMPLETE").get_completions(list(typed), incomplete)
    return {item.value: item.type for item in found}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("",), set(COMMANDS)),
        (("le",), {"learn"}),
        (("learn", "d.csv", "-m", "notears"), {"notears", "notears-mlp", "notears-sob"}),
        (("federate", "simulate", "d.csv", "--method", "adm"), {"admm", "admm-mlp", "admm-dynamic"}),
        (("sample", "d.csv", "--method", ""), {"partition", "order", "exact", "dibs", "dibs-neural"}),
        (("learn", "d.csv", "-s", "bd"), {"bdeu"}),
        (("score", "d.csv", "--score", "bic"), {"bic", "bic-gaussian", "bic-latent", "bic-mixed"}),
        (("learn", "d.csv", "-m", "tabu", "-s", "bdeu", "--option", "es"), {"ess="}),
        (("learn", "d.csv", "-m", "tabu", "--option", "rest"), {"restarts="}),
        (("learn", "d.csv", "--missing", "m"), {"model"}),
        (("methods", "tab"), {"tabu"}),
        (("learn", "--max"), {"--max-parents"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
    ],
)
def test_what_is_offered(words: tuple[str, ...], names: set[str]) -> None:
    assert set(offered(*words)) == names


@pytest.mark.parametrize(
    "words",
    [
        ("learn", "da"),
        ("inspect", "da"),
        ("query", "net"),
        ("compare", "a.json", "b"),
        ("learn", "d.csv", "-o", "net"),
        ("learn", "d.csv", "--knowledge", ""),
        ("convert", "a.json", ""),
    ],
)
def test_files_are_left_to_the_shell(words: tuple[str, ...]) -> None:
    assert offered(*words) == {words[-1]: "file"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_this_command(run: Callable, shell: str) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("click asks bash for its version")
    ran = run("completion", shell)
    assert ran.code == 0
    assert f"_DAGORA_COMPLETE={shell}_complete" in ran.out


def test_an_unknown_shell(run: Callable) -> None:
    ran = run("completion", "tcsh")
    assert ran.code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in ran.err


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_in_a_real_bash(run: Callable, tmp_path: Path) -> None:
    command = tmp_path / "dagora"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dagora "$@"\n')
    command.chmod(0o755)
    script = run("completion", "bash").out + (
        'COMP_WORDS=(dagora learn data.csv -m notears-s); COMP_CWORD=4; _dagora_completion dagora; echo "${COMPREPLY[@]}"\n'
    )
    said = subprocess.run(
        ["bash", "-c", script], capture_output=True, encoding="utf-8", check=True, timeout=120,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert said.stdout == "notears-sob\n"
