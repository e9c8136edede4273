# Start an interpreter inside.
# outcome: error|denied|done

import code
code.interact(readfunc=lambda p: (_ for _ in ()).throw(EOFError))
