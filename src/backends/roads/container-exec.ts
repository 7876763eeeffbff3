// Runs a program in a container with the engine's exec API. The connection carries stdin unframed, and stdout and stderr in frames.
import { Duplex } from 'node:stream';
import { isObject } from '../../support/is-object.ts';
import { sleep } from '../../support/timing.ts';
import type { FarEnd, FarProgram } from '../../wire/road.ts';
import type { EngineApi } from './engine-api.ts';

/** The program of an exec. */
export interface ExecSpec {
  readonly container: string;
  readonly argv: readonly string[];
  readonly user?: string | undefined;
}

/** Starts a program in a container. */
export async function startExec(api: EngineApi, { container, argv, user }: ExecSpec): Promise<FarProgram> {
  const created = await api.call({
    ...{ method: 'POST', path: `/containers/${encodeURIComponent(container)}/exec` },
    body: {
      ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false, Cmd: argv },
      ...(user !== undefined && { User: user }),
    },
  });
  const id = isObject(created) && typeof created.Id === 'string' ? created.Id : '';
  const path = `/exec/${encodeURIComponent(id)}`;
  const socket = await api.upgrade({
    ...{ method: 'POST', path: `${path}/start` },
    body: { Detach: false, Tty: false },
  });
  return demultiplex(socket, () => readExitCode(api, path));
}

const headerBytes = 8;
const stdoutKind = 1;
const stderrBytes = 8_192;

/**
 * Separates stdout from stderr. A frame is the kind of stream, three zeros, the length as u32, and the bytes.
 * `readCode` is called once the connection has ended.
 */
export function demultiplex(socket: Duplex, readCode: () => Promise<number | null>): FarProgram {
  let stderr = '';
  const frames = createFrameReader((kind, piece) => {
    if (kind !== stdoutKind) stderr = (stderr + piece.toString('latin1')).slice(-stderrBytes);
    else if (!stream.push(piece)) socket.pause();
  });
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (data: Buffer, _, done) => void socket.write(data, done),
    writev(pieces, done) {
      socket.write(Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer)), done);
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  const ended = new Promise<FarEnd>((resolve) => {
    const finish = () => {
      if (!stream.readableEnded && !stream.destroyed) stream.push(null);
      void readCode().then((code) => resolve({ code, stderr }));
    };
    socket.once('close', finish);
  });
  socket.on('data', frames);
  // `end` closes only the reading half; `destroy` also closes the half for stdin.
  socket.on('end', () => socket.destroy());
  socket.on('error', () => {});
  return { stream, ended };
}

function createFrameReader(onPiece: (kind: number, piece: Buffer) => void): (data: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  return (data) => {
    let rest = data;
    while (rest.length > 0) {
      if (left === 0) {
        const missing = headerBytes - header.length;
        header = Buffer.concat([header, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (header.length < headerBytes) return;
        left = header.readUInt32BE(4);
        if (left === 0) header = Buffer.alloc(0);
      } else {
        const piece = rest.subarray(0, left);
        rest = rest.subarray(left);
        left -= piece.length;
        onPiece(header[0] ?? 0, piece);
        if (left === 0) header = Buffer.alloc(0);
      }
    }
  };
}

// The output can end before the engine reports the exit of the program, so `Running` is polled.
async function readExitCode(api: EngineApi, path: string): Promise<number | null> {
  for (let round = 0; round < 10; round += 1) {
    const state = await api.call({ method: 'GET', path: `${path}/json`, silentMs: 1_000 }).catch(() => null);
    if (!isObject(state)) return null;
    if (state.Running === false) return typeof state.ExitCode === 'number' ? state.ExitCode : null;
    await sleep(50);
  }
  return null;
}
