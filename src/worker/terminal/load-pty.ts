import { createRequire } from 'node:module';
import { NacreError } from '../../contract/failure.ts';

/** What the package's native part does; its own JavaScript would read and write for us, which we do ourselves. */
export interface PtyBinary {
  open(cols: number, rows: number): { readonly master: number; readonly slave: number };
  resize(master: number, cols: number, rows: number): void;
  /** Starts a program that leads a session whose terminal is a new one. */
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helperPath: string,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
}

/** Loads the optional package; its absence is an error that names it. */
export async function loadPty(load = loadBinary): Promise<PtyBinary> {
  try {
    return await load();
  } catch (cause) {
    throw new NacreError(
      'resources_unavailable',
      'A terminal needs the package @lydell/node-pty, which is not installed here.',
      { hint: 'Run npm install @lydell/node-pty beside nacre, or start the command without pty.', cause },
    );
  }
}

const require = createRequire(import.meta.url);

async function loadBinary(): Promise<PtyBinary> {
  const { requireBinary } = require('@lydell/node-pty/requireBinary.js') as {
    requireBinary(file: string): PtyBinary;
  };
  return requireBinary('pty.node');
}

/** Where the program is through which macOS starts others; empty elsewhere. */
export function ptyHelper(platform: string = process.platform): string {
  if (platform !== 'darwin') return '';
  return require.resolve(`@lydell/node-pty-${platform}-${process.arch}/spawn-helper`);
}
