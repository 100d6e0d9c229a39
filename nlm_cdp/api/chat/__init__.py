"""The chat: asking, what the service keeps of it, and what it is told to be."""
