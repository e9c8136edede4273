# Write to the result pipe without end.
# outcome: flood|timeout

import os
while True:
    os.write(3, b"x" * 65536)
