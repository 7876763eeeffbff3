// A library instance whose state folder, and nothing else, is on a disk of a few MiB that becomes really full (ENOSPC).
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { createNacre } from '../../src/index.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { report } from './report.ts';

const [library = '', disk = ''] = process.argv.slice(2);
becomeOrdinaryUser();
const { createNacre: create } = (await import(library)) as { createNacre: typeof createNacre };
const cwd = temporaryFolder();
const env = { PATH: '/usr/bin:/bin', HOME: cwd };
const nacre = await create({ stateDir: join(disk, 'state'), loginEnv: 'never' }, { cwd, env });
const { bash, bashOutput } = nacre.tools;

const filler = join(disk, 'filler');
function fillDisk(): void {
  const fd = openSync(filler, 'w');
  try {
    for (let size = 65_536; size >= 1; size = Math.floor(size / 16)) {
      try {
        for (;;) writeSync(fd, Buffer.alloc(size));
      } catch {
        // ENOSPC; smaller pieces fill what is left.
      }
    }
  } finally {
    closeSync(fd);
  }
}

const first = await bash.run({ command: 'echo works' });
const background = await bash.run({
  command: 'for i in 1 2 3 4 5; do sleep 0.2; echo tick; done',
  run_in_background: true,
});
const bash_id = String(background.metadata.bash_id);
fillDisk();
// Longer than the rest of the last page of the audit file.
const full = await bash.run({ command: `touch ran; echo full # ${'x'.repeat(5_000)}` });
let ticks = '';
let status: string | undefined;
do {
  const output = await bashOutput.run({ bash_id });
  ticks += output.metadata.stdout ?? '';
  status = output.metadata.status as string | undefined;
} while (status === 'running');
rmSync(filler);
const freed = await bash.run({ command: 'echo freed' });
const loud = await bash.run({ command: 'yes | head -c 30000000; sleep 60', timeout: 30_000 });
// The output of the first command is removed to make room for that of the second.
const louder = await bash.run({ command: 'yes no | head -c 30000000; sleep 60', timeout: 30_000 });
const last = await bash.run({ command: 'echo last' });
await nacre.close();
report({
  first: first.output,
  full: { success: full.success, error: full.error, ran: existsSync(join(cwd, 'ran')) },
  background: { ticks, status },
  freed: freed.output,
  loud: { success: loud.success, error: loud.error, stdout: String(loud.metadata.stdout).slice(0, 4) },
  louder: {
    success: louder.success,
    error: louder.error,
    stdout: String(louder.metadata.stdout).slice(0, 3),
  },
  last: last.output,
});
