"""A sample workload of about 15 seconds, standard library only: several processes, CPU phases, file
and socket traffic, an exception that is caught and one that is not. Prints what it did."""

import hashlib
import multiprocessing
import os
import socket
import sys
import tempfile
import threading
import time
import traceback

SECONDS = float(os.environ.get("WORKLOAD_SECONDS", "15"))


def compute(until):
    """Alternates half a second of work with a quarter of rest."""
    rounds = 0
    while time.monotonic() < until:
        busy = time.monotonic() + 0.5
        while time.monotonic() < busy:
            hashlib.sha256(b"x" * 65536).digest()
            rounds += 1
        time.sleep(0.25)
    print(f"compute {os.getpid()}: {rounds} rounds", flush=True)


def files(until):
    """Writes a file, flushes it to the disk and reads it back, over and over."""
    written = 0
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "data")
        while time.monotonic() < until:
            with open(path, "wb") as file:
                file.write(os.urandom(1 << 20))
                file.flush()
                os.fsync(file.fileno())
            with open(path, "rb") as file:
                written += len(file.read())
            time.sleep(0.1)
    print(f"files {os.getpid()}: {written >> 20} MiB written and read", flush=True)


def sockets(until):
    """Sends bytes to itself over loopback, one thread at each end."""
    server = socket.create_server(("127.0.0.1", 0))
    received = []

    def receive():
        connection, _ = server.accept()
        with connection:
            received.append(sum(map(len, iter(lambda: connection.recv(65536), b""))))

    receiver = threading.Thread(target=receive)
    receiver.start()
    with socket.create_connection(server.getsockname()) as client:
        while time.monotonic() < until:
            client.sendall(b"y" * 65536)
            time.sleep(0.01)
    receiver.join()
    server.close()
    print(f"sockets {os.getpid()}: {received[0] >> 20} MiB through loopback", flush=True)


def fail(until):
    """Catches one exception, then dies of another half way through."""
    try:
        {}["missing"]
    except KeyError:
        traceback.print_exc()
    time.sleep(max(0, until - time.monotonic()) / 2)
    raise RuntimeError("this worker fails on purpose")


def main():
    until = time.monotonic() + SECONDS
    targets = [compute, compute, files, sockets, fail]
    workers = [multiprocessing.Process(target=target, args=(until,)) for target in targets]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("exit codes:", *(worker.exitcode for worker in workers), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
