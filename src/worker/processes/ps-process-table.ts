import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { type ProcessInfo, type ProcessTable, selectMembers, withDescendants } from './process-table.ts';

const run = promisify(execFile);
const listMs = 10_000;
const columns = ['-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'state=', '-o', 'lstart='];
// Linux cuts `/proc/PID/comm` to this length; cutting here makes names comparable on all systems.
const nameLength = 15;
const maxBuffer = 64 * 1024 * 1024;

/** Makes the process table for systems without /proc (macOS), read from `ps`. It sees no markers and no sessions. */
export function createPsProcessTable(path = '/usr/bin:/bin'): ProcessTable {
  const ps = (args: readonly string[]) => runPs(args, path);
  const list = async (selection: readonly string[]) =>
    (await ps([...selection, ...columns])).split('\n').flatMap((line) => parsePsLine(line) ?? []);
  return {
    name: 'ps',
    gaps: [
      'A process that leaves its process group and its parents cannot be found.',
      'If the server itself is killed (SIGKILL), its commands keep running.',
    ],
    startTime: async (pid) => (await list(['-p', String(pid)]))[0]?.startTime ?? null,
    members: async (root) => selectMembers(await list(['-A']), root, () => false),
    descendants: async ({ pid }) => withDescendants(await list(['-A']), new Set([pid])),
    findByVariable: async () => [],
    certainlyEmpty: () => false,
    // `lstart` has whole seconds.
    now: () => Math.floor(Date.now() / 1_000),
    startMoment: ({ startTime }) => Date.parse(startTime) / 1_000,
    async nameOf(pid) {
      const path = await ps(['-o', 'comm=', '-p', String(pid)]).catch(() => '');
      return basename(path.trim()).slice(0, nameLength);
    },
    async describe(pid) {
      const line = await ps(['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => '');
      return line.trim() || `process ${pid}`;
    },
  };
}

/** Parses one line of `ps -o pid= -o ppid= -o pgid= -o state= -o lstart=`. */
export function parsePsLine(line: string): ProcessInfo | null {
  const [pid, parent, group, state, ...start] = line.trim().split(/\s+/);
  if (start.length === 0) return null;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: 0,
    startTime: start.join(' '),
    zombie: state?.startsWith('Z') ?? false,
  };
}

async function runPs(args: readonly string[], path: string): Promise<string> {
  try {
    const { stdout } = await run('ps', [...args], {
      env: { PATH: path, LC_ALL: 'C' },
      maxBuffer,
      timeout: listMs,
    });
    return stdout;
  } catch (error) {
    // `ps` exits with 1 if no process matches; that is an empty list, not a failure.
    if ((error as { code?: unknown }).code === 1) return '';
    throw error;
  }
}
