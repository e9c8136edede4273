# Have torch write its log into a file.
# outcome: error|done|denied

import os
os.environ['TORCH_TRACE'] = '/tmp/backhand-attack'
torch._logging._internal._init_logs()
torch._logging.trace_structured('artifact', payload_fn=lambda: 'x')
