# Write to the address of a tensor.
# outcome: crashed|done

import ctypes
ctypes.memset(x.data_ptr(), 0, 10**9)
