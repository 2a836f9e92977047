"""Why an iteration takes as long as it does, and what would shorten it."""
