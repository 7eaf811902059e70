"""What everything else is written against: signals, systems, parameters, wrappers, units, errors."""
