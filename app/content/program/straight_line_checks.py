"""Checks of what keeps an author's program from being a straight line of assignments, by its text."""

import ast
from collections.abc import Collection, Mapping, Sequence

from app.syntax import name_of, names_loaded, tuple_parts

SPLITTING_CALLS = frozenset({"chunk", "split", "tensor_split", "unbind", "meshgrid", "broadcast_tensors"})
FIELDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(SPLITTING_CALLS, frozenset[str]()),
    **dict.fromkeys(
        ("max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin"),
        frozenset({"values", "indices"}),
    ),
    "aminmax": frozenset({"min", "max"}),
    "slogdet": frozenset({"sign", "logabsdet"}),
    "qr": frozenset({"Q", "R"}),
    "svd": frozenset({"U", "S", "Vh"}),
    "eigh": frozenset({"eigenvalues", "eigenvectors"}),
}
"""Functions of several results, with the names of these."""
COUNTED = frozenset({"nonzero", "argwhere", "masked_select", "unique", "unique_consecutive"})
"""Functions that leave as many entries as the numbers say."""
LEAVES: Mapping[str, str] = {
    **dict.fromkeys(
        ("item", "tolist", "data"), "'{}' takes numbers out of the tensors, and no gradient goes on from there."
    ),
    **dict.fromkeys(("numpy", "from_numpy"), "There is no numpy here ('{}')."),
    **dict.fromkeys(("cuda", "cpu"), "A program has no device ('{}')."),
}
"""Attributes that lead out of a program of tensors."""
ACTS = frozenset({
    "print", "open", "input", "exec", "eval", "compile", "globals", "locals", "vars", "setattr", "delattr",
    "breakpoint", "manual_seed", "seed", "set_grad_enabled", "set_default_dtype", "set_num_threads", "save",
    "load", "backward",
})  # fmt: skip
"""Functions that are called for what they do and not for what they give."""
COLLECT = "Collect the parts in a list and join them: 'hs.append(h)', then 'H = torch.stack(hs, 1)'."
KEEP = "Keep the tensor; '.detach()' says that a gradient ends."
SCOPE = "'torch', 'F' and 'math' are in scope already. Remove this line."
OTHERS: Mapping[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("How often a 'while' turns is not known before it runs.", "Write 'for t in range(T):'."),
    ast.Import: ("A forward program imports nothing.", SCOPE),
    ast.ImportFrom: ("A forward program imports nothing.", SCOPE),
    ast.ClassDef: ("A forward program has no classes.", "Write a function, or the assignments themselves."),
    ast.Break: ("How often this loop turns is not known before it runs.", "Put the number into 'range'."),
    ast.Continue: ("A turn of a loop runs to its end.", "Write 'if' around what is left out; it may ask for sizes."),
    ast.With: ("A 'with' changes what autograd sees.", "Write the assignments alone; '.detach()' stops a gradient."),
    ast.Return: ("Only a function returns.", "Name the result in ':output:'."),
    ast.Expr: ("The value of this line is lost.", "Write this step as an assignment to a new name."),
}


def needs_unrolling(tree: ast.Module, outputs: Sequence[str]) -> bool:
    """True if *tree* is more than a straight line of assignments, or reads its output again."""
    if any(
        not isinstance(statement, ast.Assign) or isinstance(statement.targets[0], ast.Subscript)
        for statement in tree.body
    ):
        return True
    reads = names_loaded(tree)
    if len(outputs) > 1 and not reads.isdisjoint(outputs):
        return True
    assigned = [assignment for assignment in tree.body if isinstance(assignment, ast.Assign)]
    kinds = ast.Lambda | ast.List | ast.ListComp
    return any(isinstance(assignment.value, kinds) or holds_parts(assignment, tree) for assignment in assigned)


def holds_parts(statement: ast.stmt, tree: ast.AST) -> bool:
    """True if *statement* gives one name to several tensors, and *tree* reads the parts."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=op))) if op in FIELDS:
            read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is(node.value, name)}
            picked = any(isinstance(node, ast.Subscript) and _is(node.value, name) for node in ast.walk(tree))
            return bool(read & FIELDS[op]) or (op in SPLITTING_CALLS) or (picked and op in {"sort", "topk"})
    return False


def data_sized_part(expression: ast.expr, masks: Collection[str]) -> ast.expr | None:
    """The part of *expression* that leaves as many entries as the numbers say; *masks* are names of truths."""
    for node in ast.walk(expression):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in COUNTED:
                return node
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="where"), args=[_], keywords=[]):
                return node
            case ast.Subscript(slice=place):
                parts = tuple_parts(place)
                if any(is_mask(part, masks) for part in parts):
                    return node
    return None


def is_mask(expression: ast.expr, masks: Collection[str]) -> bool:
    """True if *expression* is a boolean tensor, as far as its text shows."""
    match expression:
        case ast.Name(id=name):
            return name in masks
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return is_mask(inner, masks)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr(), left=left, right=right):
            return is_mask(left, masks) or is_mask(right, masks)
        case ast.Call(func=ast.Attribute(attr="bool")):
            return True
    return False


def without_writing(statement: ast.stmt) -> str:
    """Say what to write instead of *statement*, which changes a part of a tensor in place."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as whole, slice=mask)], value=value):
            chosen = ast.unparse(value)
        case ast.AugAssign(target=ast.Subscript(value=ast.Name() as whole, slice=mask), op=op, value=value):
            chosen = ast.unparse(ast.BinOp(whole, op, value))
        case _:
            return COLLECT
    if not is_mask(mask, ()):
        return COLLECT
    new = f"{whole.id}2 = torch.where({ast.unparse(mask)}, {chosen}, {whole.id})"
    return f"Choose entry by entry, under a new name: '{new}'."


def untraceable_part(expression: ast.expr) -> tuple[ast.expr, str, str] | None:
    """The part of *expression* that leaves the program of tensors: what is said of it, and what to write."""
    for node in ast.walk(expression):
        match node:
            case ast.Attribute(attr=name) if name in LEAVES:
                return node, LEAVES[name].format(name), KEEP
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in ACTS:
                return node, f"'{name}' does something besides computing.", "Leave it out."
            case ast.Attribute(attr=name) if name.startswith("__"):
                return node, f"A program has no use for '{name}'.", "Write it with operations of tensors."
            case ast.Call(func=ast.Name(id="float" | "int" as name), args=[inner]) if not isinstance(
                inner, ast.Constant
            ):
                return node, LEAVES["item"].format(f"{name}(…)"), KEEP
            case ast.keyword(arg="inplace", value=ast.Constant(value=True)) | ast.keyword(arg="out"):
                return node.value, f"'{node.arg}' writes in place.", "Leave it out, and name the result."
    return None


def _is(node: ast.AST, name: str) -> bool:
    return name_of(node) == name


def stored_names(tree: ast.AST) -> set[str]:
    """The names that *tree* writes outside of functions."""
    names, waiting = set[str](), [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return names
