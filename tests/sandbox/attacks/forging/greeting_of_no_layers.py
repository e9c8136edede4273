# Greet again as one without layers, behind a filter or not.
# outcome: crashed

import os
os.write(3, b"ARMD\0\0BOXD")
os._exit(0)
