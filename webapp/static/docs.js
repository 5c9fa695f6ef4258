// The API's own page: Swagger UI from this host, calling with the session's CSRF token.
const place = document.getElementById("api");

window.SwaggerUIBundle({
  url: place.dataset.url,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  presets: [window.SwaggerUIBundle.presets.apis],
  requestInterceptor(request) {
    request.headers["X-CSRFToken"] = place.dataset.csrf;
    return request;
  },
});
