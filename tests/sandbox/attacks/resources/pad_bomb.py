# Pad by a billion on every side.
# outcome: memory|error
# gate: passes

y = F.pad(x, (10**9, 10**9, 10**9, 10**9))
