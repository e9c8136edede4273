# Leave with exit code 0.
# outcome: crashed

import os
os._exit(0)
