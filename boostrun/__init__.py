"""boostrun: boosting under a budget."""

__version__ = "0.1.0"
