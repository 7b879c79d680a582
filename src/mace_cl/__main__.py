"""`python -m mace_cl` is `mace`."""

from mace_cl.cli.main import main

main()
