# Open /dev/sda.
# outcome: error

open("/dev/sda", "rb").read(1)
won = torch.ones(())
