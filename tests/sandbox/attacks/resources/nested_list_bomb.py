# The billion laughs.
# outcome: memory
# gate: passes

y = [0]
for _ in range(40):
    y = y * 10
