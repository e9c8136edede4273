# Send millions of frames.
# outcome: flood|crashed|timeout

import os
while True:
    os.write(3, b"S\0\0\0\0\0\0" * 9000)
