"""Graph to Plan: which kernel, with which parameters, on which slice of the arena."""
