# Centre a letter in ten gigabytes.
# outcome: memory|error
# gate: passes

y = "x".center(10**10)
