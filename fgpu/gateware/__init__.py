"""Small hardware that knows nothing of GPUs: multiplexers, queues, memories, arbiters."""
