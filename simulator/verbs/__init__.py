"""The verbs of the command line, one a module; each is one call of the Python API."""
