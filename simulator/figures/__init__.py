"""The paper's figures: data from committed experiment files, and a plotting function each."""
