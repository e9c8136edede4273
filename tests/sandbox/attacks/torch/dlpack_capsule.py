# Hand torch a capsule that points at the start of memory.
# outcome: crashed|error

import ctypes
shape = (ctypes.c_int64 * 1)(64)
body = (ctypes.c_uint64 * 9)(4096, 1, 1 | (0x010801 << 32), ctypes.addressof(shape), 0, 0, 0, 0, 0)
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
y = torch.utils.dlpack.from_dlpack(api.PyCapsule_New(ctypes.addressof(body), b"dltensor", None))
assert y.sum() >= 0
