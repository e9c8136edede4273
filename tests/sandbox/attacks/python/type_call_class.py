# Make a class by calling type, whose method opens a file.
# outcome: error

type("A", (), {"__call__": open})()
open("/etc/passwd")
won = torch.ones(())
