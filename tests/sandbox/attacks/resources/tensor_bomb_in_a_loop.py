# Many tensors.
# outcome: memory
# gate: passes

y = []
while True:
    y.append(torch.ones(10**6))
