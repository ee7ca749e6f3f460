"""The command line: every command of `symseed`, and what a terminal shows while a search works."""
