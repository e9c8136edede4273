# Leave with exit code 42.
# outcome: crashed

import os
os._exit(42)
