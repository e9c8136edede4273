# A mapping that grows.
# outcome: memory|timeout
# gate: passes

y = {}
n = 0
while True:
    n += 1
    y[n] = str(n) * 1000
