"""Reservoir boosting (Lefakis & Fleuret, NIPS 2013): training on a stream while holding r + q samples."""
