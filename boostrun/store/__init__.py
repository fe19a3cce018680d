"""Records of trials: their keys, their schema, where they are stored, and which code made them."""
