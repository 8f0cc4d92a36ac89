"""Runs a command in a terminal: argv[1] is a JSON list of the command, argv[2] of steps.

A step is {"expect": text}, {"send": text}, {"size": [rows, columns]} or {"pause": seconds}.
Prints as JSON what the terminal showed (bytes as Latin-1) and the wait status.
"""

import fcntl, json, os, pty, select, struct, sys, termios, time

command, steps = json.loads(sys.argv[1]), json.loads(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)


def resize(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


shown, looked = b"", 0


def read(seconds):
    global shown
    if not select.select([fd], [], [], seconds)[0]:
        return True
    try:
        part = os.read(fd, 65536)
    except OSError:
        return False
    shown += part
    return bool(part)


resize(30, 100)
for step in steps:
    if "send" in step:
        os.write(fd, step["send"].encode("latin-1"))
    if "size" in step:
        resize(*step["size"])
    end = time.monotonic() + step.get("pause", 20 if "expect" in step else 0)
    wanted = step.get("expect", "\0never").encode("latin-1")
    while time.monotonic() < end:
        at = shown.find(wanted, looked)
        if at >= 0:
            looked = at + len(wanted)
            break
        if not read(0.05):
            break
while read(20):
    pass
_, status = os.waitpid(pid, 0)
print(json.dumps({"shown": shown.decode("latin-1"), "status": status}))
