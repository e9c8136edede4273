# Open /dev/null.
# outcome: error

open("/dev/null", "rb").read(1)
won = torch.ones(())
