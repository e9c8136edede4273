# Change a builtin.
# outcome: done

import builtins
builtins.len = lambda v: 0
