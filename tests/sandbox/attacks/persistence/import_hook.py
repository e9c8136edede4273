# Be asked for every import from here on.
# outcome: done

import sys, builtins

class Finder:
    def find_spec(self, *words):
        raise SystemExit

sys.meta_path.insert(0, Finder())
sys.path_hooks.insert(0, Finder)
builtins.__import__ = None
y = x + 1
