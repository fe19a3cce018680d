"""ShareBoost's saved models, and its rivals', as C."""
