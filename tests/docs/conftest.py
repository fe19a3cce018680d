"""Pages that bring things of a person's own leave nothing behind."""

from tests.extend.conftest import forgetful as _forgetful

forgetful = _forgetful
