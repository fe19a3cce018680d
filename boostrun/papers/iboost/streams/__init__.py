"""The streams of the paper, one a file."""
