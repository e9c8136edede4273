# Run code while a class is made.
# outcome: denied

class Meta(type):
    def __new__(meta, *rest):
        __import__("os").fork()
        return super().__new__(meta, *rest)
class Trap(metaclass=Meta): ...
won = torch.ones(())
