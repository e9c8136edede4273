# Run code by subscripting a class.
# outcome: error|denied

class Trap:
    def __class_getitem__(cls, item):
        return open(item).read()
text = Trap["/etc/passwd"]
won = torch.ones(())
