import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Duplex, type Readable, type Writable } from 'node:stream';
import type { FarEnd, FarProgram } from '../../wire/road.ts';
import type { Environment } from '../machine/environment.ts';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const stderrBytes = 8_192;
const killAfterMs = 2_000;
const lateOutputMs = 500;

/**
 * Starts the program of a road, such as `ssh`, with a group and session of its own, so that Ctrl-C at a terminal of nacre does
 * not reach it. `argv` is executed without a shell.
 */
export function spawnFar(argv: readonly [string, ...string[]], environment: Environment): FarProgram {
  const [program, ...words] = argv;
  const child = spawn(program, words, {
    env: environment,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = watchEnd(child, program);
  return { stream: toDuplex(child), ended };
}

function watchEnd(child: Child, program: string): Promise<FarEnd> {
  let stderr = '';
  child.stderr.setEncoding('latin1').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrBytes);
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, stderr: `${program}: ${error.message}` }));
    // `close` follows when stderr was read to its end. A ControlMaster process of ssh may keep the pipes open after its parent exits.
    child.on('exit', (code) => {
      const end = () => resolve({ code, stderr });
      child.on('close', end);
      setTimeout(end, lateOutputMs).unref();
    });
  });
}

function toDuplex(child: Child): Duplex {
  const { stdin, stdout } = child;
  const stream = new Duplex({
    read: () => void stdout.resume(),
    write: (data: Buffer, _, done) => void stdin.write(data, done),
    writev(pieces, done) {
      stdin.write(Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer)), done);
    },
    final: (done) => void stdin.end(done),
    destroy(error, done) {
      endGroup(child);
      done(error);
    },
  });
  stdout.on('data', (data: Buffer) => {
    if (!stream.push(data)) stdout.pause();
  });
  stdout.on('end', () => stream.push(null));
  // Errors such as EPIPE are ignored: the end of `stdout` reports that the program has exited.
  for (const end of [stdin, stdout, child.stderr]) end.on('error', () => {});
  child.on('error', (error) => stream.destroy(error));
  child.on('exit', () => setImmediate(() => stdout.readableLength === 0 && stdin.destroy()));
  return stream;
}

// `ssh` may have started a ProxyCommand in its group.
function endGroup(child: Child): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal);
    } catch {
      // ESRCH: the group has already exited.
    }
  };
  kill('SIGTERM');
  const timer = setTimeout(kill, killAfterMs, 'SIGKILL').unref();
  child.on('exit', () => clearTimeout(timer));
}
