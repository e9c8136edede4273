# Compute with a trillion digits.
# outcome: memory|error|timeout

import decimal
decimal.getcontext().prec = decimal.MAX_PREC
y = decimal.Decimal(1) / decimal.Decimal(3)
