# Say done in two halves, and go on.
# outcome: timeout|done

import os
os.write(3, b"Z")
for _ in range(10**5):
    pass
os.write(3, b"d")
while True:
    pass
