"""A person's own algorithms, data sets and feature families, without a fork: see docs/howto/extending.md.

They are named as ``module:Class`` in a YAML of a person's ``--config-dir``, in an entry point, or as a word of the
command line (``algo=module:Class``), and nothing else is ever imported because of a config.
"""
