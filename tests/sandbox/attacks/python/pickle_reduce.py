# Let pickle call a function.
# outcome: denied

import pickle, os
class Trap:
    def __reduce__(self):
        return os.fork, ()
pickle.loads(pickle.dumps(Trap()))
won = torch.ones(())
