"""Landlock: the kernel takes away every file, TCP port and scope that it knows of. No rule gives any back."""

import os
import struct

from app.sandbox import kernel

_VERSION = 1

# (first ABI, number of file rights, has TCP rights, has scopes)
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_RIGHTS = 0b11
_SCOPES = 0b11


def abi() -> int:
    """The newest ABI of this kernel; asked of the kernel itself, since /sys may be hidden.

    Raises:
        OSError: Landlock is not built in (ENOSYS), not enabled (EOPNOTSUPP) or filtered (EPERM).
    """
    return kernel.syscall("landlock_create_ruleset", kernel.LANDLOCK_CREATE_RULESET, None, 0, _VERSION)


def rights(version: int) -> bytes:
    """The ruleset attribute that handles every right of ABI *version*."""
    files = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    if version < 4:
        return struct.pack("<Q", files)
    if version < 6:
        return struct.pack("<QQ", files, _TCP_RIGHTS)
    return struct.pack("<QQQ", files, _TCP_RIGHTS, _SCOPES)


def restrict(attribute: bytes) -> None:
    """Deny everything in *attribute* to this process, for ever. Needs no_new_privs."""
    ruleset = kernel.syscall("landlock_create_ruleset", kernel.LANDLOCK_CREATE_RULESET, attribute, len(attribute), 0)
    try:
        kernel.syscall("landlock_restrict_self", kernel.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
