# Make a module of the interpreter's own anew.
# outcome: done|error|denied

import _imp, importlib.machinery
spec = importlib.machinery.ModuleSpec('posix', None)
fresh = _imp.create_builtin(spec)
_imp.exec_builtin(fresh)
fresh.fork()
