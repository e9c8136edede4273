# Keep the process from ending.
# outcome: timeout|crashed|done|denied

import os
os._exit = lambda code: None
