"""Graph to graph: one module a pass; `pipeline.py` is the ordered list."""
