# Look at the status of its own process.
# outcome: error

open("/proc/thread-self/status").read()
won = torch.ones(())
