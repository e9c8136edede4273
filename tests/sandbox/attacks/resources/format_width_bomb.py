# A format that asks for a gigabyte.
# outcome: memory|error
# gate: passes

text = f"{1:2000000000}"
won = torch.ones(())
