# Compute for ever.
# outcome: timeout
# gate: passes

while True:
    pass
