"""Machines behind quasistatic metering valves: arms, a crane, and the twin with compressible oil."""
