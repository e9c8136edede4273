# Leave with exit code 255.
# outcome: crashed

import os
os._exit(255)
