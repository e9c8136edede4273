# Load a module that the zygote never imported.
# outcome: error

import wave
won = torch.ones(())
