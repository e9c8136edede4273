# Open /dev/kmsg.
# outcome: error

open("/dev/kmsg", "rb").read(1)
won = torch.ones(())
