"""What is kept on this machine between starts: built programs, crash markers, what was verified, tuning results."""
