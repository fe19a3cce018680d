"""Pages that declare a user's own things leave nothing behind."""

from tests.extend.conftest import forgetful as _forgetful

forgetful = _forgetful
