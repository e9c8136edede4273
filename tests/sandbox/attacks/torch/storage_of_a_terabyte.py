# Resize a storage beyond the memory of the machine.
# outcome: memory|error

y = torch.empty(0)
y.untyped_storage().resize_(2**40)
won = torch.ones(())
