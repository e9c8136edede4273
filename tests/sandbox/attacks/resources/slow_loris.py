# Send one byte now and then.
# outcome: timeout

import os, time
while True:
    os.write(3, b"S")
    limit = time.monotonic() + 0.05
    while time.monotonic() < limit:
        pass
