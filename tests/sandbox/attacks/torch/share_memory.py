# Move a tensor into shared memory.
# outcome: error|denied

torch.ones(3).share_memory_()
won = torch.ones(())
