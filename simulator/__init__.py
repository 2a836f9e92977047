"""Simulates the communication of a training cluster under embedding sharding policies."""
