# A text of eight gigabytes.
# outcome: memory
# gate: passes

y = "x" * 8 * 10**9
