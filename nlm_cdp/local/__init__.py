"""What is kept on this machine: the library, sessions, files, the record of what was sent."""
