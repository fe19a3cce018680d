"""What methods share: the estimator base, stumps, ensembles, losses, binning."""
