# Open /proc/self/environ.
# outcome: error

open("/proc/self/environ", "rb").read(1)
won = torch.ones(())
