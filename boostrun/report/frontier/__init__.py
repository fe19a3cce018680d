"""A frontier: what each method reaches under each budget, as a table, a picture and a sentence.

``points`` is what was measured, ``verdicts`` who wins where, ``table`` and ``figure`` what a person looks at.
"""
