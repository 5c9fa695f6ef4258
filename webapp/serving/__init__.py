"""Between gunicorn and the views: configuration, logs, metrics, proxies, limits."""
