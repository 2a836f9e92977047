"""Plans, policies and what they cost in memory."""
