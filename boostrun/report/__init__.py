"""Tables, statistics, figures and comparisons of stored records.

Everything here reads plain dictionaries in the record format and the papers' own figures, nothing else.
"""
