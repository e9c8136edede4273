# A text that doubles.
# outcome: memory
# gate: passes

y = "x"
while True:
    y += y
