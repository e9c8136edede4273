# Ask torch for files of the machine.
# outcome: error|done

import os
names = os.listdir(os.path.dirname(torch.__file__))
won = torch.ones(())
