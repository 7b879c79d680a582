"""Families of operators: each module registers its functions."""
