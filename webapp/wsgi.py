"""What gunicorn serves: ``gunicorn webapp.wsgi:app``."""

from webapp import create_app

app = create_app()
