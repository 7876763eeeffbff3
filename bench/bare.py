# The bare costs that sessions are measured against, asked for one at a time: `p` a ping-pong of one byte between two
# processes, `s` a posix_spawn of /bin/true with its end awaited. Answers with nanoseconds.
import os
import sys
import time

there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    # Its own writing end, or ours when we are gone, would keep it waiting for ever.
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
    os._exit(0)
for asked in iter(lambda: sys.stdin.buffer.read(1), b""):
    start = time.perf_counter_ns()
    if asked == b"p":
        os.write(there[1], b"x")
        os.read(back[0], 1)
    else:
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
    sys.stdout.write(f"{time.perf_counter_ns() - start}\n")
    sys.stdout.flush()
os._exit(0)
