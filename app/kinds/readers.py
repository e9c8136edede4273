"""The directives of all kinds, without what marks or proves them: to read a course needs no more."""

from collections.abc import Mapping

from app.content.directives.directive_reader import DirectiveReader
from app.kinds.axes import read as axes
from app.kinds.bug import read as bug
from app.kinds.cells import read as cells
from app.kinds.checker import read as checker
from app.kinds.choice import keep
from app.kinds.choice import read as choice
from app.kinds.grad import read as grad
from app.kinds.matmul import read as matmul
from app.kinds.number import read as number
from app.kinds.order import read as order
from app.kinds.program import read as program
from app.kinds.shape import read as shape
from app.kinds.train import read as train
from app.kinds.visual import read as visual

_FILES = (shape, number, choice, axes, matmul, order, cells, keep, grad, bug, checker, program, train, visual)
READERS: tuple[DirectiveReader, ...] = tuple(file.READER for file in _FILES)
BY_BLOCK: Mapping[type, DirectiveReader] = {reader.block: reader for reader in READERS}
