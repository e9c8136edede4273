"""`python -m tests.elsewhere WORDS...`: the `backhand` command on a system that has nothing that only Linux has.

Modules, calls and signals that Windows or macOS lack are taken away before anything of the project is imported.
"""

import asyncio
import ctypes
import os
import platform
import signal
import socket
import sys
from asyncio import unix_events
from importlib import import_module
from pathlib import Path

CALLS = "fork geteuid getuid memfd_create pidfd_open pipe2 statvfs sched_getaffinity O_NOFOLLOW"
SIGNALS = "SIGBUS SIGHUP SIGPROF SIGSYS SIGTRAP SIGXCPU ITIMER_PROF setitimer pidfd_send_signal"


def missing(*_: object, **__: object) -> None:
    raise NotImplementedError


def take_away() -> None:
    platform.system = lambda: "Windows"
    for module, names in ((os, CALLS), (signal, SIGNALS), (socket, "SOCK_SEQPACKET"), (ctypes, "CDLL PyDLL")):
        for name in names.split():
            delattr(module, name)
    for name in ("fcntl", "resource", "pwd", "grp"):
        sys.modules[name] = None  # type: ignore[assignment]
    unix_events._UnixSelectorEventLoop.add_signal_handler = missing  # type: ignore[assignment]
    is_dir = Path.is_dir
    Path.is_dir = lambda path: not path.as_posix().startswith(("/proc", "/dev")) and is_dir(path)  # type: ignore


if __name__ == "__main__":
    asyncio.run(asyncio.sleep(0))
    import_module("truststore")  # on Windows it reads what only Windows has, as soon as it is imported
    take_away()
    from app.cli import main

    main()
