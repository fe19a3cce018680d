"""How each method of the paper is measured: by the features that it uses."""
