# Ask whether one half is in a very long range.
# outcome: timeout
# gate: passes

y = 0.5 in range(10**18)
