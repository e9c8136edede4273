# Run the driver of another kind of job on the harness's own output.
# outcome: done|error|crashed

from app.sandbox import harness, rehearsal
harness.DRIVERS["attempt"](rehearsal.HEADER, rehearsal.arrays(), harness.Output(1000))
