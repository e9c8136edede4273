# Share storage through a descriptor.
# outcome: error|denied

torch.ones(3).untyped_storage()._share_fd_cpu_()
won = torch.ones(())
