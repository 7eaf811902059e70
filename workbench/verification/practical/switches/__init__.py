"""What laws, and plants of the user's own, compare: their switches, and the margins that a run had."""
