"""Device facts as tables, one file a family."""
