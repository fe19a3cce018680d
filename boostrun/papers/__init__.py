"""One folder a paper: its methods, kernels, evaluation, figures, reference figures, and one declaration of them all."""
