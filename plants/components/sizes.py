"""Ranges of sizes that every machine keeps: a number outside was written in another unit (`bore: 80` are 80 metres, not 80 mm).

Source: ours. The ends lie a factor of ten beyond what is built.
"""

from workbench.contract.parameters import Bound

length = Bound(low=0.0, high=15.0, strict=True, words="greater than zero and less than 15 m")
flow = Bound(low=0.0, high=1.0, strict=True, words="greater than zero and less than 60000 l/min")
pressure = Bound(low=1e4, high=1e9, strict=True, words="between 0.1 bar and 10000 bar")
