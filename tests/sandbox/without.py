"""A zygote whose children keep only some layers: `python -I -B without.py PLACE FD`. For the layer matrix alone.

PLACE names a file with the layers of the next run, read by each child before it confines itself; whether there are
namespaces is decided once, by the word `namespaces` in it when the zygote starts.
"""

import dataclasses
import resource
import sys
from pathlib import Path

from app.sandbox import jail, kernel, landlock, zygote, zygote_loop

PLACE = Path(sys.argv[1])


def keep_files_out(plan: jail.ConfinementPlan, _run: jail.RunBudget) -> int:
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(plan.ruleset)
    return jail.LANDLOCK


def set_limits(plan: jail.ConfinementPlan, run: jail.RunBudget) -> int:
    jail.set_limits(plan, run)
    jail.limit(resource.RLIMIT_NOFILE, 0)
    return jail.LIMITS


hide_memory = kernel.hide_memory


def hide(plan: jail.ConfinementPlan, run: jail.RunBudget) -> int:
    kernel.hide_memory = hide_memory
    return jail.hide(plan, run)


def no_new_privileges(_plan: jail.ConfinementPlan, _run: jail.RunBudget) -> int:
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    return jail.NO_NEW_PRIVS


STEPS = {
    "user": jail.drop_user, "hide": hide, "landlock": keep_files_out, "limits": set_limits,
    "seccomp": no_new_privileges,
}  # fmt: skip
confine = jail.confine


def confine_with_the_layers_of_this_run(plan: jail.ConfinementPlan, run: jail.RunBudget) -> None:
    kept = PLACE.read_text().split(",")
    jail.CONFINING_STEPS[:] = [jail.stand_alone, *(step for name, step in STEPS.items() if name in kept)]
    confine(plan if "seccomp" in kept else dataclasses.replace(plan, filter=None), run)


def main() -> None:
    jail.confine = confine_with_the_layers_of_this_run
    # The zygote hides as well, and its children inherit that; here it is the child's own step that is looked at.
    zygote_loop.kernel.hide_memory = lambda: None
    if "namespaces" not in PLACE.read_text().split(","):
        zygote_loop.namespaces.enter_namespaces = lambda **_: None
    sys.argv = [sys.argv[0], sys.argv[2]]
    zygote.main()


if __name__ == "__main__":
    main()
