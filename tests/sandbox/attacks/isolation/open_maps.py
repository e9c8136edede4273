# Open /proc/self/maps.
# outcome: error

open("/proc/self/maps", "rb").read(1)
won = torch.ones(())
