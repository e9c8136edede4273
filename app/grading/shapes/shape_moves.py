"""Shape rules of what moves numbers without changing them: views, joins, parts, picks; and of new tensors."""

from collections.abc import Mapping, Sequence

from app.grading.shapes.shape_values import Tensor, UnknownShapeError, Value, axis_of, common, sizes_of, tensor, whole


def reshape(x: Value, *sizes: Value, **options: Value) -> Tensor:
    wanted = list(sizes_of([options["shape"]] if "shape" in options else sizes))
    count = tensor(x).count
    known = 1
    for size in wanted:
        known *= 1 if size == -1 else size
    if wanted.count(-1) == 1 and known and count % known == 0:
        wanted[wanted.index(-1)] = count // known
        known = count
    if known != count or any(size < 0 for size in wanted):
        raise UnknownShapeError
    return Tensor(tuple(wanted), tensor(x).kind)


def like(x: Value, other: Value) -> Tensor:
    if tensor(x).count != tensor(other).count:
        raise UnknownShapeError
    return Tensor(tensor(other).shape, tensor(x).kind)


def transposed(x: Value, first: Value, second: Value) -> Tensor:
    shape = list(tensor(x).shape)
    one, two = axis_of(first, len(shape)), axis_of(second, len(shape))
    shape[one], shape[two] = shape[two], shape[one]
    return Tensor(tuple(shape), tensor(x).kind)


def permute(x: Value, *axes: Value) -> Tensor:
    shape = tensor(x).shape
    order = [axis_of(axis, len(shape)) for axis in sizes_of(axes)]
    if sorted(order) != list(range(len(shape))):
        raise UnknownShapeError
    return Tensor(tuple(shape[axis] for axis in order), tensor(x).kind)


def reversed_axes(x: Tensor) -> Tensor:
    return Tensor(x.shape[::-1], x.kind)


def swapped(x: Tensor) -> Tensor:
    return transposed(x, -1, -2)


def flatten(x: Value, start_dim: Value = 0, end_dim: Value = -1) -> Tensor:
    shape = tensor(x).shape
    first, last = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if first > last:
        raise UnknownShapeError
    if not shape or first == last:
        return Tensor(shape or (1,), tensor(x).kind)
    return Tensor((*shape[:first], Tensor(shape[first : last + 1]).count, *shape[last + 1 :]), tensor(x).kind)


def unsqueeze(x: Value, dim: Value) -> Tensor:
    shape = tensor(x).shape
    at = axis_of(dim, len(shape) + 1)
    return Tensor((*shape[:at], 1, *shape[at:]), tensor(x).kind)


def squeeze(x: Value, dim: Value = None) -> Tensor:
    shape = tensor(x).shape
    dims = range(len(shape)) if dim is None else [axis_of(one, len(shape)) for one in sizes_of([dim])]
    return Tensor(tuple(size for axis, size in enumerate(shape) if size != 1 or axis not in dims), tensor(x).kind)


def expand(x: Value, *sizes: Value) -> Tensor:
    shape, wanted = tensor(x).shape, sizes_of(sizes)
    padded = (1,) * (len(wanted) - len(shape)) + tuple(shape)
    if len(wanted) < len(shape):
        raise UnknownShapeError
    filled = tuple(old if new == -1 else new for old, new in zip(padded, wanted, strict=True))
    if common(padded, filled) != filled:
        raise UnknownShapeError
    return Tensor(filled, tensor(x).kind)


def expand_as(x: Value, other: Value) -> Tensor:
    return expand(x, tensor(other).shape)


def unfold(x: Value, dimension: Value, size: Value, step: Value) -> Tensor:
    shape = list(tensor(x).shape)
    axis = axis_of(dimension, len(shape))
    count = (shape[axis] - whole(size)) // whole(step) + 1
    if count < 1 or step < 1:
        raise UnknownShapeError
    shape[axis] = count
    return Tensor((*shape, size), tensor(x).kind)


def split(x: Value, split_size_or_sections: Value, dim: Value = 0) -> Value:
    shape = tensor(x).shape
    axis = axis_of(dim, len(shape))
    sections = split_size_or_sections
    if isinstance(sections, int):
        size, total = whole(sections), int(shape[axis])
        if size < 1 or total // size > 100:
            raise UnknownShapeError
        sections = [min(size, total - start) for start in range(0, total, size)]
    if sum(whole(size) for size in sections) != shape[axis]:
        raise UnknownShapeError
    return tuple(Tensor((*shape[:axis], size, *shape[axis + 1 :]), tensor(x).kind) for size in sections)


def chunk(x: Value, chunks: Value, dim: Value = 0) -> Value:
    size = tensor(x).shape[axis_of(dim, len(tensor(x).shape))]
    return split(x, -(-int(size) // whole(chunks)), dim)


def unbind(x: Value, dim: Value = 0) -> Value:
    shape = tensor(x).shape
    axis = axis_of(dim, len(shape))
    if not shape or shape[axis] > 100:
        raise UnknownShapeError
    return (Tensor(shape[:axis] + shape[axis + 1 :], tensor(x).kind),) * int(shape[axis])


def parts(tensors: Value) -> Sequence[Tensor]:
    if not isinstance(tensors, tuple | list) or not tensors:
        raise UnknownShapeError
    return [tensor(one) for one in tensors]


def cat(tensors: Value, dim: Value = 0) -> Tensor:
    joined = parts(tensors)
    rank = len(joined[0].shape)
    axis = axis_of(dim, rank)
    rests = {one.shape[:axis] + one.shape[axis + 1 :] for one in joined}
    if rank == 0 or len(rests) != 1 or any(len(one.shape) != rank for one in joined):
        raise UnknownShapeError
    total = sum(one.shape[axis] for one in joined)
    return Tensor((*joined[0].shape[:axis], total, *joined[0].shape[axis + 1 :]), joined[0].kind)


def stack(tensors: Value, dim: Value = 0) -> Tensor:
    joined = parts(tensors)
    if len({one.shape for one in joined}) != 1:
        raise UnknownShapeError
    shape = joined[0].shape
    at = axis_of(dim, len(shape) + 1)
    return Tensor((*shape[:at], len(joined), *shape[at:]), joined[0].kind)


def gather(x: Value, dim: Value, picks: Value) -> Tensor:
    axis_of(dim, len(tensor(x).shape))
    return Tensor(tensor(picks).shape, tensor(x).kind)


def index_select(x: Value, dim: Value, picks: Value) -> Tensor:
    shape = list(tensor(x).shape)
    shape[axis_of(dim, len(shape))] = tensor(picks).count
    return Tensor(tuple(shape), tensor(x).kind)


def made(*sizes: Value, **options: Value) -> Tensor:
    return Tensor(sizes_of(sizes), kind_of(options))


def full(size: Value, fill_value: Value, **options: Value) -> Tensor:
    return Tensor(sizes_of([size]), "float" if isinstance(fill_value, float) else kind_of(options, "int"))


def arange(*bounds: Value) -> Tensor:
    count = len(range(*(whole(bound) for bound in bounds)))
    return Tensor((bounds[0] if len(bounds) == 1 else count,), "int")


def eye(n: Value, m: Value = None, **options: Value) -> Tensor:
    return Tensor((whole(n), whole(n if m is None else m)), kind_of(options))


def kind_of(options: Mapping[str, Value], default: str = "float") -> str:
    kind = options.get("dtype", default)
    if kind not in ("float", "int", "bool"):
        raise UnknownShapeError
    return str(kind)
