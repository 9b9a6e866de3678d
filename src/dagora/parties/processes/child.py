"""`python -m dagora.parties.processes.child ARGUMENTS`: run the command `dagora` as long as the parent lives.

The parent holds the other end of standard input and never writes to it. When the parent dies for whatever
reason, the system closes that end, and the child ends itself and its own workers (it leads a process group).
This works on every Unix; a signal from the kernel at the parent's death exists on Linux only.
"""

from __future__ import annotations

import os
import runpy
import signal
import threading


def watch(descriptor: int) -> None:
    """End this process and its group when the parent's end of a pipe closes."""
    while True:
        try:
            if not os.read(descriptor, 4096):
                break
        except InterruptedError:
            continue
        except OSError:
            break
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def main() -> None:
    """Tie this process to its standard input, then run the command."""
    # The command itself must not wait for input that never comes.
    lifeline = os.dup(0)
    os.set_inheritable(lifeline, False)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=watch, args=(lifeline,), name="lifeline", daemon=True).start()
    runpy.run_module("dagora", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
