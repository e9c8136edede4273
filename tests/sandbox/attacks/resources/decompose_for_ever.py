# Decompose one large matrix again and again.
# outcome: timeout|memory
# gate: passes

while True:
    torch.linalg.svd(torch.rand(400, 400))
