"""`byzanz web`: serve the page on this machine and open the browser."""

from __future__ import annotations

import argparse
import contextlib
import secrets
import socket
import threading
import webbrowser
from pathlib import Path

from byzanz_env.cli import CommandError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - asked for by --host, and only with a token


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="open this replay")
    parser.add_argument(
        "--host", default="127.0.0.1", help="another address than this machine needs --token"
    )
    parser.add_argument("--token", help="what others must know to open the page; at least 16 characters")


def run(arguments: argparse.Namespace) -> int:
    import uvicorn

    from byzanz_env.replay import read
    from byzanz_env.web.app import Server, make_app, warm_up

    host, token = arguments.host, arguments.token
    if host not in LOOPBACK and not token:
        suggestion = secrets.token_urlsafe(16)
        raise CommandError(
            f"--host {host} opens the game to others and needs --token, such as {suggestion}"
        )
    if token is not None and len(token) < 16:
        raise CommandError("a token has at least 16 characters; leave it out to play on this machine only")
    replay = read(arguments.replay) if arguments.replay else None
    listener = _listen(host, arguments.port)
    port = listener.getsockname()[1]
    server = Server(preloaded=replay, token=token)
    warm_up()
    address = f"http://{_shown(host)}:{port}/" + (f"?token={token}" if token else "")
    print(f"Byzanz is at {address}  (Ctrl-C stops it)", flush=True)
    if host not in LOOPBACK:
        if host in EVERYWHERE:
            print("On other machines put the address of this one in the place of the first part.")
        print("Whoever can reach this address and knows the token can play; nothing is encrypted.")
    if not arguments.no_browser:
        threading.Timer(0.3, webbrowser.open, (address,)).start()
    app = make_app(server, allowed_hosts(host, port), port if host in EVERYWHERE else None)
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=64,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=2,
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
    print("\nStopped.")
    return 0


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """The Host values this server answers to."""
    names = {"127.0.0.1", "localhost", "[::1]"} if host in LOOPBACK else {_shown(host)}
    return frozenset(f"{name}:{port}".lower() for name in names)


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # whoever is quicker than the server waits in line
    except (OSError, OverflowError) as problem:
        listener.close()
        reason = problem.strerror if isinstance(problem, OSError) else "not a port"
        raise CommandError(f"cannot listen on {host} port {port}: {reason}; try another --port") from None
    return listener
