"""Ranges of sizes that every machine keeps: a number outside was written in another unit (`bore: 80` are 80 metres, not 80 mm).

Source: ours. The ends lie a factor of ten and more beyond what is built.
"""

from workbench.contract.parameters import Bound

bore = Bound(low=0.0, high=5.0, strict=True, words="greater than zero and less than 5 m")
rod = Bound(low=0.0, high=5.0, words="zero or greater and less than 5 m")
travel = Bound(low=0.0, high=100.0, strict=True, words="greater than zero and less than 100 m")
flow = Bound(low=0.0, high=1.0, strict=True, words="greater than zero and less than 60000 l/min")
pressure = Bound(low=1e4, high=1e9, strict=True, words="between 0.1 bar and 10000 bar")
