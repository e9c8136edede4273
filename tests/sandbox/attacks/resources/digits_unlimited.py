# Lift the bound on digits and print.
# outcome: timeout

import sys
sys.set_int_max_str_digits(0)
str(7 ** 10**7)
