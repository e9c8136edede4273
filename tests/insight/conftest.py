"""An empty database of each kind."""

from tests.store.conftest import anyio_backend, database, me, migrated, template, url

__all__ = ["anyio_backend", "database", "me", "migrated", "template", "url"]
