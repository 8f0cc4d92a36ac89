"""Workloads of different shapes: `cpu_shapes.py SHAPE TRUTH` runs one, and appends to the file TRUTH
what getrusage says of it: a line of seconds for the first process with all that it has waited for, and
one for each orphan."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time

SHAPE, TRUTH = sys.argv[1:]


def used(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def tell():
    with open(TRUTH, "a") as file:
        file.write(f"{used(resource.RUSAGE_SELF) + used(resource.RUSAGE_CHILDREN)}\n")


def forked(work):
    """Pid of a child that works and ends."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def run(work):
    os.waitpid(forked(work), 0)


def orphans(count, work):
    """Starts processes whose parents end at once, and waits until they have told their time and are gone."""
    pids, says = os.pipe()
    def daemon():
        os.setsid()
        pid = forked(lambda: (work(), tell()))
        os.write(says, b"%d\n" % pid)
    for _ in range(count):
        run(daemon)
    os.close(says)
    for pid in os.fdopen(pids).read().split():
        while os.path.exists(f"/proc/{pid}"): time.sleep(0.01)


def shell(script):
    subprocess.run(["sh", "-c", script], check=True)


def threads():
    def hash_bytes():
        import hashlib
        data, until = bytes(1 << 20), time.thread_time() + 0.3
        while time.thread_time() < until:
            hashlib.sha256(data)
    all = [threading.Thread(target=hash_bytes) for _ in range(4)]
    for thread in all: thread.start()
    for thread in all: thread.join()


def at_once(count, work):
    for pid in [forked(work) for _ in range(count)]:
        os.waitpid(pid, 0)


def nested():
    def inner(depth):
        burn(0.2)
        if depth > 0: run(lambda: inner(depth - 1))
        burn(0.1)
    inner(4)


def killed():
    pid = forked(lambda: burn(60))
    while int(open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()[11]) < 25:
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def unreaped():
    pids = [forked(lambda: burn(0.25)) for _ in range(4)]
    time.sleep(2.5)
    for pid in pids: os.waitpid(pid, 0)


def beside_a_worker():
    worker = forked(lambda: burn(1))
    for _ in range(20): run(lambda: burn(0.03))
    os.waitpid(worker, 0)


def copies():
    with open("/dev/zero", "rb", 0) as zero:
        data = bytearray(1 << 20)
        while os.times().system < 0.8: zero.readinto(data)


def ends_itself():
    run(lambda: burn(0.5))
    burn(0.5)


SHAPES = {
    "one_process": lambda: burn(0.9),
    "one_child": lambda: run(lambda: burn(0.9)),
    "ten_in_turn": lambda: [run(lambda: burn(0.15)) for _ in range(10)],
    "hundred_in_turn": lambda: [run(lambda: burn(0.015)) for _ in range(100)],
    "eight_at_once": lambda: at_once(8, lambda: burn(0.2)),
    "threads": threads,
    "system_time": copies,
    "nested": nested,
    "shell_loop": lambda: shell(
        "i=0; while [ $i -lt 150 ]; do sh -c 'j=0; while [ $j -lt 4000 ]; do j=$((j+1)); done'; i=$((i+1)); done"
    ),
    "shell_programs": lambda: shell("i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done"),
    "pipeline": lambda: shell("head -c 300000000 /dev/zero | tr '\\0' 'a' | wc -c > /dev/null"),
    "exec": lambda: shell(f"exec {sys.executable} -c 'sum(range(3*10**7))'"),
    "daemon": lambda: orphans(1, lambda: burn(0.9)),
    "five_daemons": lambda: orphans(5, lambda: burn(0.25)),
    "daemon_with_children": lambda: orphans(1, lambda: [run(lambda: burn(0.05)) for _ in range(15)]),
    "killed_child": killed,
    "unreaped_children": unreaped,
    "beside_a_worker": beside_a_worker,
    "ended_by_a_signal": ends_itself,
}

SHAPES[SHAPE]()
tell()
if SHAPE == "ended_by_a_signal": os.kill(os.getpid(), signal.SIGKILL)
os._exit(0)
