# Write into bytes that must not change.
# outcome: done|error

y = torch.frombuffer(bytearray(b"12345678"), dtype=torch.float64)
y += 1
