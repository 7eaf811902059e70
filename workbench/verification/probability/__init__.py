"""How often a requirement is violated over machines drawn at random: draws, runs, and three ways to bound the probability.

    fixed        so many runs, fixed beforehand; bound of Clopper and Pearson
    sequential   as many runs as it takes; a bound that is valid at whatever run one stops
    splitting    rare violations, by runs that are led towards them level by level; an estimate

To add a way: a file with its mathematics, which knows no loop, and what a verdict says of it; its line in `judge.METHODS`.
"""
