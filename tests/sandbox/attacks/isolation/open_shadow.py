# Open /etc/shadow.
# outcome: error

open("/etc/shadow", "rb").read(1)
won = torch.ones(())
