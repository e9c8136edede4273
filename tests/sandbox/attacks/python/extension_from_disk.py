# Load an extension module by its path.
# outcome: error|denied

import _imp, importlib.machinery
spec = importlib.machinery.ModuleSpec('_ssl', None, origin='/usr/lib/python3.11/lib-dynload/_crypt.so')
spec.origin = '/proc/self/exe'
_imp.create_dynamic(spec)
won = torch.ones(())
