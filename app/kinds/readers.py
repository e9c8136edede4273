"""The directives of all kinds, without what marks or proves them: to read a course needs no more."""

from collections.abc import Mapping

from app.content.directives.directive_reader import DirectiveReader
from app.kinds import modules_called

READERS: tuple[DirectiveReader, ...] = tuple(reader for module in modules_called("read") for reader in module.READERS)
BY_BLOCK: Mapping[type, DirectiveReader] = {reader.block: reader for reader in READERS}
