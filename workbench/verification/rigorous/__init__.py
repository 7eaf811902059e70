"""Certificates that a user supplies: outward-rounded bounds, expressions on boxes, exact arithmetic, a re-check."""
