"""nlm-capture: what the web app really sends, as redacted regression fixtures, and what of it drifted."""
