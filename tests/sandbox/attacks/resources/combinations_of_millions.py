# Count the ways to choose millions out of millions.
# outcome: timeout|memory
# gate: passes

y = math.comb(10**8, 5 * 10**7)
