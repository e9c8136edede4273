# A text that no encoding can hold, as a key and in an error.
# outcome: error
# gate: passes

raise ValueError("\ud800" * 10)
