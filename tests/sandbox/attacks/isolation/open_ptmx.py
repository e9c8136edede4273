# Open /dev/ptmx.
# outcome: error

open("/dev/ptmx", "rb").read(1)
won = torch.ones(())
