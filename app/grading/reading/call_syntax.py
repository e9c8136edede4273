"""Forms in which a call of torch may be written, and the one that they mean."""

import ast

MODULES = frozenset({"torch", "F", "math", "nn", "functional"})
REAL_TYPES = frozenset({"float", "double", "half", "bfloat16"})
RESHAPING = frozenset({"unsqueeze_", "squeeze_", "transpose_", "t_", "swapaxes_", "swapdims_"})
"""In-place methods that give a tensor another shape."""


def places(expr: ast.expr) -> ast.Call | None:
    """Indices of the largest entries, `x.max(1).indices` or `x.max(1)[1]`, as `x.argmax(1)`."""
    match expr:
        case (
            ast.Attribute(value=ast.Call(func=ast.Attribute(attr="max" | "min") as func) as call, attr="indices")
            | ast.Subscript(
                value=ast.Call(func=ast.Attribute(attr="max" | "min") as func) as call, slice=ast.Constant(value=1)
            )
        ):
            return indices_call(call, func)
    return None


def indices_call(call: ast.Call, func: ast.Attribute) -> ast.Call:
    """`x.argmax(1)` for `x.max(1)`."""
    return ast.Call(ast.Attribute(func.value, f"arg{func.attr}", ast.Load()), call.args, call.keywords)


def call_arguments(call: ast.Call, func: ast.Attribute) -> tuple[list[ast.expr], dict[str, ast.expr]]:
    """The arguments of a call of torch's or of a method, by place and by name."""
    arguments = list(call.args) if is_module(func.value) else [func.value, *call.args]
    return arguments, {"dim" if word.arg == "axis" else word.arg: word.value for word in call.keywords if word.arg}


def is_number_call(expr: ast.expr) -> bool:
    """True if *expr* takes a number of Python's out of a tensor."""
    match expr:
        case ast.Call(func=ast.Name(id="float" | "int" | "bool" | "round") | ast.Attribute(attr="item")):
            return True
    return False


def is_module(expr: ast.expr) -> bool:
    """True if *expr* is torch, or a part of it."""
    match expr:
        case ast.Name(id=name):
            return name in MODULES
        case ast.Attribute(value=value, attr="functional" | "special" | "nn" | "linalg"):
            return is_module(value)
    return False
