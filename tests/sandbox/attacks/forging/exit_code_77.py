# Leave with exit code 77.
# outcome: crashed

import os
os._exit(77)
