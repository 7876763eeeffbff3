import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helpers, stubs } from './scripts.ts';

/** A folder in which scripts run with stubs and a few helpers on PATH, and a log of the stubs that ran. */
export interface Arena {
  /** Runs scripts one by one; returns the stubs that each of them started. */
  run(scripts: readonly string[]): Promise<Set<string>[]>;
  close(): void;
}

const runner = `
ulimit -t 2 -f 2048 -c 0
for file in "$@"
do
  export CASE=\${file##*/}
  cd "$WORK" && bash -c "$(<"$file")" < /dev/null > /dev/null 2>&1
done
`;

/** Creates the folder: stubs that log their name, symlinks to the helper programs, and a working directory. */
export function createArena(): Arena {
  const root = mkdtempSync(join(tmpdir(), 'arena-'));
  const folder = (name: string): string => {
    mkdirSync(join(root, name));
    chmodSync(join(root, name), 0o777);
    return join(root, name);
  };
  chmodSync(root, 0o755);
  const [bin, work, cases, logs] = [folder('bin'), folder('work'), folder('cases'), folder('logs')];
  for (const name of stubs) {
    const status = name === 'kn' ? 1 : 0;
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> "${logs}/\${CASE:-lost}"\nexit ${status}\n`);
    chmodSync(join(bin, name), 0o755);
    // A file with the stub's name in the working directory lets a glob such as `k?` expand to the command.
    writeFileSync(join(work, name), '');
  }
  for (const name of helpers) symlinkSync(locate(name), join(bin, name));
  writeFileSync(join(root, 'runner.sh'), runner);
  chmodSync(join(root, 'runner.sh'), 0o644);
  let next = 0;
  const run = async (scripts: readonly string[]): Promise<Set<string>[]> => {
    const names = scripts.map((script) => {
      const name = String(next++);
      writeFileSync(join(cases, name), script);
      return name;
    });
    const files = names.map((name) => join(cases, name));
    const finished = await runBatch(root, bin, work, files, 2_000 + 150 * files.length);
    // A hanging script gets the whole batch killed, so run its scripts again one by one.
    if (!finished && files.length > 1)
      for (const file of files) await runBatch(root, bin, work, [file], 2_000);
    return names.map((name) => readLog(join(logs, name)));
  };
  return { run, close: () => rmSync(root, { recursive: true, force: true }) };
}

function runBatch(
  root: string,
  bin: string,
  work: string,
  files: string[],
  timeoutMs: number,
): Promise<boolean> {
  const bash = locate('bash');
  const command = [join(root, 'runner.sh'), ...files];
  const seconds = String(timeoutMs / 1_000);
  const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
  const argv = [
    ...(process.getuid?.() === 0 ? asNobody : []),
    'timeout',
    '-s',
    'KILL',
    seconds,
    bash,
    ...command,
  ];
  const [program = '', ...args] = argv;
  const env = { PATH: bin, WORK: work, HOME: work, FUNCNEST: '20', LC_ALL: 'C.UTF-8' };
  return new Promise((resolve) => {
    execFile(
      locate(program),
      args.map((arg) => (arg === 'timeout' ? locate('timeout') : arg)),
      { env },
      (error) => resolve(error === null || (error.code !== 137 && error.signal !== 'SIGKILL')),
    );
  });
}

function readLog(file: string): Set<string> {
  try {
    return new Set(
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    );
  } catch {
    return new Set();
  }
}

const located = new Map<string, string>();

function locate(name: string): string {
  const known = located.get(name);
  if (known !== undefined) return known;
  const path = execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  located.set(name, path);
  return path;
}
