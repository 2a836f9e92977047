"""What a new plan every k iterations costs, moving rows, and gains as popularity moves on."""
