"""`report.html`: a page as a value, one template for every kind of it."""
