import { createRequire } from 'node:module';
import { NacreError } from '../../contract/failure.ts';

/** The native module of @lydell/node-pty; its JavaScript part is not used, since it would read and write the terminal. */
export interface PtyBinary {
  open(cols: number, rows: number): { readonly master: number; readonly slave: number };
  resize(master: number, cols: number, rows: number): void;
  /** Starts a program in a new session with a new controlling terminal. */
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

/** Loads the optional package; throws a `NacreError` that names it if it is not installed. */
export async function loadPty(load = loadBinary): Promise<PtyBinary> {
  try {
    return await load();
  } catch (cause) {
    throw new NacreError(
      'resources_unavailable',
      'A terminal needs the package @lydell/node-pty, which is not installed.',
      {
        hint: 'Run npm install @lydell/node-pty where nacre is installed, or start the command without pty.',
        cause,
      },
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

/** Path of the helper program that starts commands on macOS; empty on other systems. */
export function ptyHelper(platform: string = process.platform): string {
  if (platform !== 'darwin') return '';
  return require.resolve(`@lydell/node-pty-${platform}-${process.arch}/spawn-helper`);
}
