# Very many small objects.
# outcome: memory|timeout
# gate: passes

y = []
while True:
    y.append([y])
