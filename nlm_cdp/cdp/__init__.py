"""The Chrome DevTools Protocol: typed commands and events, messages in and out, and the websocket they travel on."""
