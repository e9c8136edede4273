# Open /dev/fuse.
# outcome: error

open("/dev/fuse", "rb").read(1)
won = torch.ones(())
