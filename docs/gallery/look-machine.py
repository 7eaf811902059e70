"""An excavator and where its teeth reach

The drawing of a machine file: names, strokes, angles, reach.
"""

import fluidproof as fp

excavator = fp.machine("excavator").plant
picture = fp.draw(excavator)
