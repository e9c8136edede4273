# Wear the zygote out by dying in its arms.
# outcome: crashed

import ctypes
ctypes.string_at(1)
