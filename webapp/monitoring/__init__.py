"""Health checks and metrics, for programs that watch the web app."""
