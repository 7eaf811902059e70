"""PID control: the law, its signals and units, what it makes of valves, settings that suit a plant."""
