# Have the interpreter write its stack into the result.
# outcome: crashed

import faulthandler
faulthandler.dump_traceback(3)
