# Call the harness again, with a job of its own.
# outcome: done|error|crashed

from app.sandbox import frames, harness
harness.serve(bytearray(frames.job_head(["probe", {"source": "y = torch.zeros(3)", "names": ["y"]}, 1000], [])))
