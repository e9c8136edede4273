# A tensor that grows by products.
# outcome: memory
# gate: passes

y = torch.ones(1000, 1)
z = (y @ y.T).flatten()
w = z[:, None] + z[None, :]
won = torch.ones(())
