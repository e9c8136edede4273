"""True remarks beside a verdict that change nothing about it."""

from app.grading.forward.program import Program
from app.grading.judge.compare import Reference
from app.grading.judge.trials import Trial


def vacuous_note(name: str, reference: Reference, isolated: Reference, program: Program) -> str:
    """Why the real data cannot tell a right rule for *name* from zeros; empty where they can.

    Args:
        isolated: The reference under random upstreams; where it vanishes as well, zeros are as right as any rule.
    """
    if isolated.vacuous:
        return f"`{name}` is zero up to rounding for every upstream there can be here; any rule for zero is right."
    if reference.vacuous:
        return (
            f"For this loss `{name}` is zero up to rounding, whatever the data; it was judged with a random upstream, "
            "where the rule shows."
        )
    silent = [int(key.split(".")[0]) for key in reference.silent_shares]
    consumers = dict.fromkeys(program.statements[index].outputs[0] for index in silent)
    if not consumers:
        return ""
    names = ", ".join(f"`{one}`" for one in consumers)
    return f"For this loss the share of `{name}` through {names} is zero up to rounding; the rule still has it."


def dtype_note(trial: Trial, name: str) -> str:
    """A right gradient of the wrong number type."""
    got = trial.values.get(name)
    if got is None or got.dtype.kind == "f" or name in trial.kinds:
        return ""
    return f"The values are right, but this is a tensor of {got.dtype} numbers; dividing it in place would fail."
