# Resize a tensor beyond the memory of the machine.
# outcome: memory|error

x.resize_(10**12)
won = torch.ones(())
