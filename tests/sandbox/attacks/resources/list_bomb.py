# A list that grows until memory ends.
# outcome: memory

y = []
while True:
    y.append(bytearray(10**6))
