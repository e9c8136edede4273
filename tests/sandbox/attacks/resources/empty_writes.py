# Write nothing to the pipe, for ever.
# outcome: timeout

import os
while True:
    os.write(3, b"")
