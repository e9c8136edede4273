# Answer for the codec with which the harness writes what cannot be written.
# outcome: done|error|crashed

import codecs
codecs.register_error("backslashreplace", lambda error: ("Zd" * 10**6, error.end))
raise ValueError("\ud800")
