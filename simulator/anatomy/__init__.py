"""What one replayed iteration's time is made of, and the ranks that show it best."""
