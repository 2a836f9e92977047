"""Tables, popularity, sequence lengths, batches and traces."""
