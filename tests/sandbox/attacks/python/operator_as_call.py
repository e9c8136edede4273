# Call open without writing a call.
# outcome: error

class Trap:
    __add__ = lambda self, other: open(other).read()
    __getattr__ = open
text = Trap() + "/etc/passwd"
won = torch.ones(())
