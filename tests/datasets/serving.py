"""A web server on this machine that can break off."""

import http.server


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files``; the first ``broken`` answers end half-way. ``asked`` is what was asked for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked, self.broken = {}, [], 0
        self.url = f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        name = self.path[1:]
        server.asked.append(name)
        if name not in server.files:
            self.send_error(404)
            return
        body = server.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if server.broken:
            server.broken -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *words):
        pass
