import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { findBash, isNewEnough } from './bash.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fake(body: string): string {
  const path = join(folder, 'bash');
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
const installHint = expect.stringContaining('brew install bash');

describe('E9: bash', () => {
  test.each(['4.4', '4.4.20(1)-release', '4.10', '5.2.15(1)-release', '10.0'])(
    '%s is new enough',
    (version) => {
      expect(isNewEnough(version)).toBe(true);
    },
  );

  test.each(['3.2.57(1)-release', '4.3.48', '', 'banana', '4'])('%j is not', (version) => {
    expect(isNewEnough(version)).toBe(false);
  });

  test('is found on the PATH', async () => {
    const { path, version } = await findBash(undefined, '/nowhere:/usr/bin:/bin');
    expect(path).toMatch(/^\/(usr\/)?bin\/bash$/);
    expect(version).toMatch(/^\d+\.\d+/);
  });

  test('that is too old is refused with its version and a hint', async () => {
    const path = fake("printf %s '3.2.57(1)-release'");
    await expect(findBash(undefined, folder)).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: `${path} is bash 3.2.57(1)-release; nacre needs 4.4 or newer.`,
      hint: installHint,
    });
  });

  test('that is another shell is refused', async () => {
    const path = fake('exit 0');
    await expect(findBash(path, '')).rejects.toMatchObject({
      message: `${path} is not bash.`,
      hint: installHint,
    });
  });

  test('that is missing or fails is refused', async () => {
    await expect(findBash(undefined, folder)).rejects.toMatchObject({
      message: 'bash is not on the PATH.',
      hint: installHint,
    });
    await expect(findBash(join(folder, 'none'), '')).rejects.toThrow('could not be run as bash');
    await expect(findBash(fake('exit 1'), '')).rejects.toThrow('could not be run as bash');
  });

  test('that cannot be run for lack of descriptors does not have to be installed', async () => {
    expect(await runChild('bash-at-limit', { ulimits: ['-n 64'] })).toEqual({
      message: 'The machine or its limits do not allow this now: spawn /bin/bash EMFILE.',
      hint: expect.stringContaining('stop some commands'),
    });
  });

  test('that hangs is killed at the time limit', async () => {
    const path = fake('trap "" TERM\nwhile :; do sleep 0.2; done');
    await expect(findBash(path, '', 300)).rejects.toThrow('could not be run as bash');
    await expect.poll(() => processesWith(path)).toEqual([]);
  });

  test('reports its version even if BASH_ENV prints something', async () => {
    const noisy = join(folder, 'noisy');
    writeFileSync(noisy, 'printf 1.0');
    const before = process.env.BASH_ENV;
    process.env.BASH_ENV = noisy;
    try {
      expect((await findBash('/bin/bash', '')).version).not.toMatch(/^1\.0/);
    } finally {
      if (before === undefined) delete process.env.BASH_ENV;
      else process.env.BASH_ENV = before;
    }
  });
});
