import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { toKeeperScript } from './keeper.ts';

test('E2: a keeper is not ready before the first process of its namespace has nothing left to do', async () => {
  const folder = temporaryFolder();
  const go = join(folder, 'go');
  const roof = '"$BASH" -c "$1" bash & while [[ ! -e $2 ]]; do :; done; wait';
  const child = spawn(
    'unshare',
    ['--pid', '--fork', '--mount-proc', '--kill-child', 'bash', '-c', roof, 'bash', toKeeperScript(), go],
    { stdio: ['pipe', 'ignore', 'ignore', 'pipe', 'pipe'], env: { PATH: '/usr/bin:/bin', KEEPER: folder } },
  );
  try {
    let said = '';
    (child.stdio[3] as Readable).on('data', (bytes: Buffer) => {
      said += bytes.toString();
    });
    await expect.poll(() => processesWith(`KEEPER=${folder}`).length).toBeGreaterThanOrEqual(3);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(said).toBe('');
    writeFileSync(go, '');
    await expect.poll(() => said, { timeout: 10_000 }).toMatch(/^ready\0/);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
  await expect.poll(() => processesWith(`KEEPER=${folder}`), { timeout: 5_000 }).toEqual([]);
});
