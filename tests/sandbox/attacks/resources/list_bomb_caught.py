# The same, and the error is swallowed.
# outcome: memory|timeout|done

y = []
try:
    while True:
        y.append(bytearray(10**6))
except MemoryError:
    pass
