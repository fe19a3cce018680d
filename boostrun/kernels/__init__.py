"""Compiled functions on plain arrays: no classes, no files, no configuration.

Every kernel is compiled when it is first called and kept on disk (``cache=True``), so only the first command after an
installation waits for the compiler. Each has a twin of obvious lines in ``tests/reference``.
"""
