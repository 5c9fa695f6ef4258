"""The client of the server: connections, scripts, commands and their replies."""
