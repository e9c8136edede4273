# Share storage through a file name.
# outcome: error|denied

torch.ones(3).untyped_storage()._share_filename_cpu_()
won = torch.ones(())
