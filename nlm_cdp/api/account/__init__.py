"""The account: what it has, and the language of what it generates."""
