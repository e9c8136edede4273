# Call bytes as if they were code.
# outcome: crashed|denied|memory

import ctypes
code = ctypes.create_string_buffer(b"\xc3" * 64)
ctypes.CFUNCTYPE(None)(ctypes.addressof(code))()
won = torch.ones(())
