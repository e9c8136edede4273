# Have torch print stacks at fatal signals.
# outcome: denied|error|crashed

torch._C._set_print_stack_traces_on_fatal_signal(True)
torch._C._crash_if_csrc_asan(3)
import ctypes
ctypes.string_at(0)
