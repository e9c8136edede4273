# Run bytes as code.
# outcome: denied|crashed|error

import marshal, os
code = compile("os.fork()", "x", "exec")
exec(marshal.loads(marshal.dumps(code)))
won = torch.ones(())
