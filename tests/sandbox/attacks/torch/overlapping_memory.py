# Multiply a matrix into memory that it reads from.
# outcome: error|done|crashed

a = torch.ones(64, 64)
torch.mm(a, a, out=a.as_strided((64, 64), (1, 1)))
y = a
