"""One file a plot: a question, a function that draws its answer on given axes, and the finding in words."""
