"""The user's own algorithms, data sets and feature families, without a fork: see docs/howto/extending.md.

They are named as ``module:Class`` in a YAML file of ``--config-dir``, in an entry point, or on the command line
(``algo=module:Class``); no other name is ever imported because of a configuration.
"""
