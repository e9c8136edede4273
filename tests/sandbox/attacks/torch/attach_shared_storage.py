# Attach to a shared storage by its name.
# outcome: denied|error

torch.UntypedStorage._new_shared_filename_cpu(b"", b"/torch_1_1_1", 4096)
won = torch.ones(())
