"""What holds for all tests."""

from hypothesis import settings

# The same examples in every run, so that a red build is red again; no deadline, since a busy machine is no fault.
settings.register_profile("project", deadline=None, derandomize=True, database=None)
settings.load_profile("project")
