"""Everything that talks to the server: connections, scripts, commands and their replies."""
