# Bytes by the gigabyte.
# outcome: memory|error
# gate: passes

y = b"x" * 10**10
won = torch.ones(())
