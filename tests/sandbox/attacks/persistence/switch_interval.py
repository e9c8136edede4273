# Change how often the interpreter looks up.
# outcome: done

import sys, decimal, locale
sys.setswitchinterval(1e-9)
sys.setdlopenflags(1)
decimal.getcontext().prec = 1
y = x + 1
