# Open /dev/urandom.
# outcome: error

open("/dev/urandom", "rb").read(1)
won = torch.ones(())
