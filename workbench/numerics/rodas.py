"""The numbers of RODAS, a Rosenbrock method of six stages and order four, and of the inputs that it is given.

Source: [Hairer96] section VI.4 (RODAS).
"""

from __future__ import annotations

import numpy as np

from workbench.numerics.stepping import END

NODES = (0.0, 0.25, 0.5, 0.75, END)
# Values at NODES → coefficients of the polynomial through them.
POLY = np.linalg.inv(np.vander(np.linspace(0.0, 1.0, len(NODES)), increasing=True))
GAMMA = 0.25
LEAST = 1e-14  # share of a state: smaller errors are rounding
A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (
        8.083246795921522,
        -7.981132988064893,
        -31.52159432874371,
        16.31930543123136,
        -6.058818238834054,
    ),
)
AT = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
D = (0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0)

# Of equal steps: where inputs are needed, which of these a stage takes, and what they weigh in the rate at the beginning.
STAGES = (*AT[:4], END)
ROW = (0, 1, 2, 3, 4, 4)
SLOPE = tuple(
    sum(1 / (a - b) for b in AT[1:5] if b != a)
    if a == 0.0
    else 1 / a * np.prod([(0.0 - b) / (a - b) for b in AT[:5] if b not in (0.0, a)])
    for a in AT[:5]
)
