# Open /proc/self/cwd/app/sandbox/jail.py.
# outcome: error

open("/proc/self/cwd/app/sandbox/jail.py", "rb").read(1)
won = torch.ones(())
