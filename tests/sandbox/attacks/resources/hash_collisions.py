# Fill a dictionary with keys of one hash.
# outcome: timeout

class Same:
    def __hash__(self):
        return 1
y = {Same(): number for number in range(10**6)}
won = torch.ones(())
