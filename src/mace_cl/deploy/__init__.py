"""YAML deployment files: read, checked, turned into builds; models fetched and compared."""
