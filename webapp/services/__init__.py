"""Each verb of the web app once: the library's call, the figures, the audit log, what is told to whom."""
