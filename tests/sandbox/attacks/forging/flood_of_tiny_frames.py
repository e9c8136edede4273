# Send more frames than anybody reads.
# outcome: crashed|timeout|flood

import os, struct
for number in range(1000):
    os.write(3, b"".join(struct.pack("<cHI", b"S", 5, 0) + b"%05d" % (number * 110 + one) for one in range(110)))
