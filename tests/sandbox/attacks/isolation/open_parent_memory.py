# Open /proc/1/mem.
# outcome: error

open("/proc/1/mem", "rb").read(1)
won = torch.ones(())
