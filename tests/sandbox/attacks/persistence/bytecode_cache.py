# Leave compiled code beside a module.
# outcome: error|done

import py_compile
py_compile.compile("/tmp/backhand-attack.py", doraise=True)
won = torch.ones(())
