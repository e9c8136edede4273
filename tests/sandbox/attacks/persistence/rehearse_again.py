# Run the rehearsal again, in the middle of a run.
# outcome: done|error

from app.sandbox import harness
for _ in range(5):
    harness.rehearse()
y = x + 1
