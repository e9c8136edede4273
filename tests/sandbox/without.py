"""A zygote that keeps only some layers: `python -I -B without.py LAYER,LAYER FD`. For the layer matrix alone."""

import dataclasses
import resource
import sys

from app.sandbox import jail, kernel, landlock, zygote, zygote_loop

KEPT = set(sys.argv[1].split(","))


def keep_files_out(plan: jail.Plan, _run: jail.Run) -> int:
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(plan.ruleset)
    return jail.LANDLOCK


def set_limits(plan: jail.Plan, run: jail.Run) -> int:
    jail.set_limits(plan, run)
    jail.limit(resource.RLIMIT_NOFILE, 0)
    return jail.LIMITS


hide_memory = kernel.hide_memory


def hide(plan: jail.Plan, run: jail.Run) -> int:
    kernel.hide_memory = hide_memory
    return jail.hide(plan, run)


STEPS = {"user": jail.drop_user, "hide": hide, "landlock": keep_files_out, "limits": set_limits}


def main() -> None:
    original = zygote_loop.protection.plan

    def plan() -> jail.Plan:
        found = original()
        return found if "seccomp" in KEPT else dataclasses.replace(found, filter=None)

    zygote_loop.protection.plan = plan
    # The zygote hides as well, and its children inherit that; here it is the child's own step that is looked at.
    zygote_loop.kernel.hide_memory = lambda: None
    if "namespaces" not in KEPT:
        zygote_loop.namespaces.enter = lambda **_: None
    jail.STEPS[:] = [jail.stand_alone, *(step for name, step in STEPS.items() if name in KEPT)]
    if "seccomp" in KEPT:
        jail.STEPS.append(no_new_privileges)
    sys.argv = [sys.argv[0], sys.argv[2]]
    zygote.main()


def no_new_privileges(_plan: jail.Plan, _run: jail.Run) -> int:
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    return jail.NO_NEW_PRIVS


if __name__ == "__main__":
    main()
