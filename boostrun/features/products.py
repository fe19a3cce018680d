"""Products x_i x_j, i < j, of scaled pixels or columns; the bank holds the factors, never the products."""

from __future__ import annotations

from boostrun.features.linear import Linear


class Products(Linear):
    """As `boostrun.features.linear.Linear`; whoever trains on these values forms the d (d - 1) / 2 products."""

    name = "products"

    def describe(self) -> str:
        return f"products of two {super().describe()}"
