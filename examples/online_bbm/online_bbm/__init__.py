"""Online boosting of Beygelzimer, Kale & Luo (ICML 2015) as a package beside boostrun, with what else a paper brings.

Nothing heavy is imported here: each module stands for itself.
"""
