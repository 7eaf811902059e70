"""How far practical stability reaches: values of a number, tried until a run fails."""
