"""Boosting on streams whose concept drifts (Grbovic & Vucetic 2011): IBoost, its rivals, and their evaluation."""
