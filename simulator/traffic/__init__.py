"""A plan and a batch become phases with byte matrices."""
