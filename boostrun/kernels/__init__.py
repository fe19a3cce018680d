"""Compiled functions on plain arrays, without classes, files or configuration.

A kernel is compiled at its first call and kept on disk (``cache=True``), so that only the first command after an
installation waits for the compiler. Each has a slow and obvious twin in ``tests/reference``.
"""
