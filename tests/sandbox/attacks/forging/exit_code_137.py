# Leave with exit code 137.
# outcome: crashed

import os
os._exit(137)
