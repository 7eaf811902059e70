"""The hydraulic four-bar: geometry, equations, parts."""
