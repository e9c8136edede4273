# Warn a million times.
# outcome: done|timeout

import warnings
warnings.simplefilter("always")
for n in range(3000):
    warnings.warn(f"number {n}")
