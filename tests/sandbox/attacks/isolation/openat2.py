# Open by the newest call.
# outcome: error|done

import ctypes
libc = ctypes.CDLL(None)
if libc.syscall(437, -100, b"/etc/passwd", ctypes.create_string_buffer(24), 24) >= 0:
    won = torch.ones(())
