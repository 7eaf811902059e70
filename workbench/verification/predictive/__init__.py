"""Predictive controllers: terminal cost and set, feasibility, fall of the cost, and what a run shows of them."""
