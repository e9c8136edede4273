# Raise an error whose text moves the cursor and writes a second line of a log.
# outcome: error
# gate: passes

raise ValueError("\x1b[2J\x1b]0;owned\x07\r\n{\"level\": \"error\"}\u202e\x00\x9b")
