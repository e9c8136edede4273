# Fork inside of a hook.
# outcome: denied|error

import os
w = torch.ones(3, requires_grad=True)
w.register_hook(lambda g: os.fork())
(w * 2).sum().backward()
won = torch.ones(())
