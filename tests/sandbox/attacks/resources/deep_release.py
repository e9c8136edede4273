# Let go of a million objects that hold each other.
# outcome: done|crashed
# gate: passes

chain = None
for _ in range(10**6):
    chain = [chain]
del chain
