# Open /dev/kvm.
# outcome: error

open("/dev/kvm", "rb").read(1)
won = torch.ones(())
