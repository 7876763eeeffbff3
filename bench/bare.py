# Baselines for session.bench.ts. Reads one letter per measurement from stdin: `p` is a ping-pong of one byte between two
# processes, `s` is posix_spawn() and waitpid() of /bin/true. Prints nanoseconds.
import os
import sys
import time

there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    # Close the inherited write end, or read() would never return EOF after the parent exits.
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
    os._exit(0)
for operation in iter(lambda: sys.stdin.buffer.read(1), b""):
    start = time.perf_counter_ns()
    if operation == b"p":
        os.write(there[1], b"x")
        os.read(back[0], 1)
    else:
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
    sys.stdout.write(f"{time.perf_counter_ns() - start}\n")
    sys.stdout.flush()
os._exit(0)
