# Measure the machine by its clock.
# outcome: done

import time
start = time.perf_counter()
y = time.perf_counter() - start
