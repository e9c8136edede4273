# Read a number of a million digits.
# outcome: timeout

import sys
sys.set_int_max_str_digits(0)
y = int("9" * 10**7)
won = torch.ones(())
