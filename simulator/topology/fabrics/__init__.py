"""How NICs are joined, one file a kind of fabric."""
