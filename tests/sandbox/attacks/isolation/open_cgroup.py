# Open /sys/fs/cgroup/cgroup.procs.
# outcome: error

open("/sys/fs/cgroup/cgroup.procs", "rb").read(1)
won = torch.ones(())
