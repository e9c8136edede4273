# Put a very long range into a set.
# outcome: memory|timeout
# gate: passes

y = set(range(10**9))
