"""Who may see a notebook."""
