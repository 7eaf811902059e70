"""The integrated electro-hydraulic actuator: equations, delivery, energy, inverse."""
