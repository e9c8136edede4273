# Have the interpreter write into the result when it crashes.
# outcome: denied|error

import faulthandler, ctypes
faulthandler.enable(3)
ctypes.string_at(0)
