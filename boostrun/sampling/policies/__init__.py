"""Which features and samples to look at: one policy a file, each reading like its pseudocode."""
