# Leave with exit code 1.
# outcome: crashed

import os
os._exit(1)
