import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { builtCli, builtLibrary } from '../support/build.ts';
import { buildChild } from '../support/child.ts';
import { needPrograms, needRoot } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

// Only this mount namespace sees the disk of 4 MiB.
const script = `mount -t tmpfs -o size=4m,mode=1777 none "$1" && "$2" "$3" "$4" "$1" &&
  NACRE_STATE_DIR=$1/state "$2" "$5" audit verify`;

test('on a full disk commands are refused or ended with the reason, running ones continue, and nothing is lost', async (context) => {
  needRoot(context);
  needPrograms(context, 'unshare');
  const folder = temporaryFolder();
  const disk = join(folder, 'disk');
  const program = join(folder, 'small-disk.mjs');
  mkdirSync(disk);
  mkdirSync(join(folder, 'tmp'));
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'tmp'), 0o1777);
  await buildChild('small-disk', program);
  const args = [
    '--mount',
    'bash',
    '-c',
    script,
    'bash',
    disk,
    process.execPath,
    program,
    builtLibrary,
    builtCli,
  ];
  const env = { ...process.env, TMPDIR: join(folder, 'tmp') };
  const { stdout } = await run('unshare', args, { env, timeout: 60_000 });
  const [found = '', verified] = stdout.trim().split('\n').slice(-2);
  expect(JSON.parse(found)).toEqual({
    first: 'works\n',
    full: { success: false, error: expect.stringContaining('ENOSPC'), ran: false },
    background: { ticks: 'tick\n'.repeat(5), status: 'completed' },
    freed: 'freed\n',
    loud: {
      success: false,
      error: expect.stringContaining('less than 1 MiB would be free'),
      stdout: 'y\ny\n',
    },
    louder: {
      success: false,
      error: expect.stringContaining('less than 1 MiB would be free'),
      stdout: 'no\n',
    },
    last: expect.stringMatching(/^last\n/),
  });
  expect(verified).toMatch(/^Intact: /);
  rmSync(folder, { recursive: true });
}, 60_000);
