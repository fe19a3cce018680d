"""The verbs of the command, one file each: ``main(words) -> exit code``."""
