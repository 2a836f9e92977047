"""Islands, hosts, NICs and fabrics; their ports, links and routes."""
