# Map the result pipe as a shared storage.
# outcome: denied|error

torch.UntypedStorage._new_shared_fd_cpu(3, 4096)
won = torch.ones(())
