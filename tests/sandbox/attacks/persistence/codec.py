# Be asked for every encoding from here on.
# outcome: done|error

import codecs
codecs.register(lambda name: 1 / 0)
codecs.lookup("utf-8")
y = x + 1
