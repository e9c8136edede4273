"""`python -m tests.zygote_server LISTENER`: a warm process that forks a zygote for whoever sends a control socket.

It imports what `app.sandbox.zygote` does and nothing else, so that whoever looks around in a jail sees the same.
"""

import gc
import importlib
import os
import select
import socket
import sys
from collections.abc import Sequence
from types import ModuleType

from app.sandbox import zygote


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()
    zygote.keep_small()
    loop = importlib.import_module("app.sandbox.zygote_loop")
    loop.warm_process()
    gc.enable()
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    zygotes: dict[int, int] = {}
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in zygotes:
                poll.unregister(descriptor)
                os.close(descriptor)
                os.waitpid(zygotes.pop(descriptor), 0)
            else:
                pid, pidfd = fork_zygote(loop, listener, [*zygotes])
                zygotes[pidfd] = pid
                poll.register(pidfd, select.POLLIN)


def fork_zygote(loop: ModuleType, listener: socket.socket, others: Sequence[int]) -> tuple[int, int]:
    """Fork one for whoever asks next, and tell them its pid and pidfd; it keeps none of the *others*."""
    asked, _ = listener.accept()
    _, (descriptor,), _, _ = socket.recv_fds(asked, 64, 1)
    pid = os.fork()
    if pid == 0:
        try:
            asked.close()
            listener.close()
            for other in others:
                os.close(other)
            loop.serve(socket.socket(fileno=descriptor), loop.confine_process())
        finally:
            os._exit(0)
    os.close(descriptor)
    pidfd = os.pidfd_open(pid)
    with asked:
        socket.send_fds(asked, [str(pid).encode()], [pidfd])
    return pid, pidfd


if __name__ == "__main__":
    main()
