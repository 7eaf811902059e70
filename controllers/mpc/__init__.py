"""Predictive control: `law.MPC`, and what it is made of."""
