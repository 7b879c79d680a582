"""The commands: thin, no logic; the only place that prints and exits."""
