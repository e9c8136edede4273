# Open /etc/passwd.
# outcome: error

open("/etc/passwd", "rb").read(1)
won = torch.ones(())
