"""Linear loops: sampled exactly, along a run and at rest; modes, margins, Lyapunov functions, boxes of parameters."""
