# Print without end.
# outcome: timeout
# gate: passes

while True:
    print("x" * 10000)
