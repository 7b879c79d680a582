"""Runs compiled programs: choose an entry, bind its buffers, launch, read the outputs."""
