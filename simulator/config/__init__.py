"""The strict YAML loader and the schemas' common types."""
