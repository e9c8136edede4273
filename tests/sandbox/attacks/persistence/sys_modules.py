# Empty the modules.
# outcome: done|error|crashed

import sys
sys.modules.clear()
