#!/usr/bin/env python3
"""Plays a recorded engine: writes its console, then serves its metrics pages one after the other.

usage: <program> [words] --port <port>, with files joined by ":" in ENGINE_PAGES, one in ENGINE_CONSOLE
GET /metrics answers the page, in which the engine has started with this process
GET /next    goes on to the next page
GET /restart executes the program anew, as a process manager would
"""

import http.server
import os
import re
import sys
import time

PAGES = [open(path).read() for path in os.environ["ENGINE_PAGES"].split(":")]
STARTS = re.compile(r"^(process_start_time_seconds|\S+_created(?:{.*})?) (\S+)$", re.MULTILINE)
NOW = time.time()
at = 0


def moved_to_now(page):
    starts = [float(value) for _, value in STARTS.findall(page)]
    shift = NOW - min(starts, default=0)
    return STARTS.sub(lambda found: f"{found[1]} {float(found[2]) + shift!r}", page)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global at
        if self.path == "/next":
            at += 1
        body = pages[at].encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain; version=1.0.0; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/restart":
            os.execv(sys.executable, [sys.executable, *sys.argv])

    def log_message(self, form, *values):
        print(f'INFO:     {self.address_string()}:1 - "{values[0]}" {values[1]} OK', flush=True)


pages = [moved_to_now(page) for page in PAGES]
with open(os.environ["ENGINE_CONSOLE"], "rb") as console:
    sys.stderr.buffer.write(console.read())
sys.stderr.flush()
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
