"""One file a figure: what is measured for it, and how it is drawn."""
