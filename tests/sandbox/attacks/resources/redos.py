# A regular expression that takes for ever.
# outcome: timeout

import re
re.match("(a+)+$", "a" * 64 + "b")
won = torch.ones(())
