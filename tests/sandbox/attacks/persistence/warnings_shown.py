# Take over how warnings are shown, and turn them on.
# outcome: done|error

import warnings
warnings.simplefilter("always")
warnings.showwarning = warnings._showwarnmsg = lambda *words, **more: 1 / 0
torch.ones(2, 3, 4).T
