# Make cycles as fast as they go.
# outcome: timeout|memory
# gate: passes

while True:
    y = []
    y.append(y)
