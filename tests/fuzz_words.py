"""Values, words and documents that hostile input (`fuzzing`) is made of."""


class Raw(str):
    """A scalar written without quotes."""


NUMBERS = (0, -0.0, -1, 1, 2, 3, 0.5, 1e-320, 1e-12, 1e-3, 1e3, 10**9, 1e9, 1e12, 1e149, 1e154, 1e300, -1e300,
    1.7e308, 10**18,
           10**298, Raw("1e999"), Raw("-1e-999"), Raw(".nan"), Raw("-.inf"), Raw("9" * 400), Raw("0x1F"),
           Raw("1_000"), Raw("~"))
WORDS = ("", " ", "0 m", "1 bar", "-5 mm", "1e300 m", "1e-300 s", "1e308 GPa", "10**400", "0/0", "π rad", "start",
    "free", "auto",
         "continuous", "ideal", "zero", "model", "hiab-xs031", "ieha-control", "four-bar", "VDC", "PID", "MPC",
         "LQR", "OpenLoop",
         "MeteredVDC", "ForcePosition", "Hold", "Sine", "Waypoints", "Spline", "Steps", "Recorded", "LuGre",
         "Stribeck", "a" * 300,
         "\0", "é", "𝔘", "\u202e", "..", ".", "/", "/dev/zero", "/etc/passwd", "x.csv", "*a", "&a",
         "!!python/none x", "2 dB/m",
         "2 dB", "3 degC", "5 %", "nan m", "inf s", "1 kg^-9", "1 m^9999", "1 √m", "1e5000 m", "[", "{", "- ", ": ",
         "q_1", "p_a1",
         "all", "joint", "cartesian", "output", "piston", "1 1/s", "7 Hz", "1 rad", "2 rev", "1 s s s", "x**2 + 1/0",
         "sqrt(-1)",
         "(" * 300, "None", "0 kg", "1e-5 m^3", "100 l/min", "1 h", "10 s", "1000000000 h", "1 us", "0 s", "-1 ms",
         "true", "false")

CERTIFICATES = (
    {"format": "quadratic-certificate-1", "time": "continuous", "matrices": [[["-0x1p+0", "0"], ["1/2", "-2"]]],
     "P": [["1", "0"], ["0", "1"]], "rate": "1/10", "radius": None, "X": None},
    {"format": "quadratic-certificate-1", "time": "sampled", "matrices": [[["1/2", "0"], ["0", "1/4"]]], "P": [["1",
        "0"], ["0", "1"]],
     "rate": "1/10", "radius": [["1/100", "0"], ["0", "0"]], "X": [["1", "0"], ["0", "1"]]},
    {"format": "sector-certificate-1", "time": "continuous", "criterion": "circle", "A": [["-1"]], "B": [["1"]],
        "C": [["1"]],
     "low": [["0"]], "high": [["1"]], "slope": None, "P": [["1"]], "tau": [["1"]], "lambda": [["0"]]},
    {"format": "saturation-certificate-1", "time": "sampled", "A": [["1/2"]], "B": [["1"]], "K": [["-1/4"]],
        "limit": [["1"]],
     "P": [["1"]], "G": [["0"]], "tau": [["1"]], "inside": [["1/2"]]},
    {"format": "terminal-certificate-1", "A": [["1/2"]], "B": [["1"]], "Q": [["1"]], "R": [["1"]], "S": [["0"]],
        "P": [["2"]],
     "K": [["0"]], "E": [["1"]], "F": [["0"]], "g": ["1"], "H": [["1"], ["-1"]], "h": ["1", "1"], "W": [["2"]],
     "c": "3",
     "duals": {"radius": [["1", "0"], ["0", "1"]], "kept": [["1/2", "0"], ["0", "1/2"]], "limits": [["1", "0"]]}})

FORMULAS = ("x**2 + 0.5*v**2", "sqrt(x) / v", "-(x - v) * tanh(3*x)", "abs(x) + exp(-v)", "1/x", "0/0", "x")
PIECES = ("x", "v", "0", "1e300", "9" * 400, "**", "**16", "**99999", "+", "-", "*", "/", "(", ")", "sqrt(", "exp(",
    "exp(exp(", "1/0", "0/0",
          ".", "lambda", "[", "x.y", "__import__('os')", "é", "\0", " ", "'a'", "True", "1j", "e9", "if", ":=",
          "not ", "~", "%", "//", ",")
UNITS = ("m", "Pa", "m^3/s", "rad", "rad/s", "1/s", "Hz", "N", "N m", "kg m^2", "1", "m^2/s", "m/(s V)", "V", "K", "J")

COMMANDS = (
    ["verify", "case.yaml", "--json", "o.json"], ["simulate", "case.yaml", "--csv", "o.csv"], ["report", "case.yaml",
        "-o", "o.pdf"],
    ["compare", "case.yaml", "case.yaml", "--also", "payload.mass: 50 kg"], ["sweep", "sweep.yaml", "--out", "o.nc",
        "--jobs", "1"],
    ["identify", "table.csv", "--input", "X", "--output", "Y", "--order", "2", "--delay", "1 ms", "--unit", "X=mm"],
    ["identify", "table.csv", "--input", "X", "--output", "Y", "--friction", "lugre", "--fix", "v_s=12mm/s"],
    ["tune", "case.yaml", "--method", "relay", "--amplitude", "0.5 V", "--at", "E=0.1mm", "--disk-margin", "0.7"],
    ["plan", "plan.yaml", "--starts", "2", "--csv", "o.csv"], ["init", "hiab-xs031", "-o", "o.yaml"], ["schema"],
    ["identify", "table.csv", "--period", "1 ms", "--resample", "2 ms", "--decimate", "3", "--detrend", "1 s",
        "--zeros", "1"])
