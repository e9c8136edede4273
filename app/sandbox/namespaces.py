"""One more wall around the zygote where the machine allows it: a network, IPC and host name of its own, all empty."""

import os

from app.sandbox import kernel

_EMPTY = kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def enter_namespaces(*, by_user: bool) -> None:
    """Leave the machine's namespaces for new ones, as root or, *by_user*, by way of a user namespace.

    In that there is no other user to become, so it is no way for a process that has to change the user.

    Raises:
        OSError: The way is not open.
    """
    try:
        kernel.unshare(_EMPTY)
    except PermissionError:
        if not by_user:
            raise
        kernel.unshare(_EMPTY | kernel.CLONE_NEWUSER)


def missing_namespaces(*, by_user: bool) -> OSError | None:
    """Error with which `enter` would fail, or None; a process that tries it and ends finds it.

    The caller may have threads, so that the fork has to be Python's own: in the child of a bare one, a thread that
    waited for the interpreter lock would be waited for, and it is not there.
    """
    pid = os.fork()
    if pid == 0:
        try:
            enter_namespaces(by_user=by_user)
        except OSError as error:
            os._exit(error.errno or 255)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    number = os.waitstatus_to_exitcode(status)
    return OSError(number, os.strerror(number)) if number > 0 else None
