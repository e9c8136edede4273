# Run code through a pattern.
# outcome: denied|error

class Trap:
    @property
    def field(self):
        __import__("os").fork()
match Trap():
    case Trap(field=1): ...
won = torch.ones(())
