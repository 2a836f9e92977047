"""All-to-all, all-reduce, reduce-scatter and all-gather as stages of flows."""
