import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { readVersion } from './read-version.ts';

let folder = '';
beforeEach((context) => {
  context.skip(process.platform !== 'linux', 'there is no /proc');
  folder = temporaryFolder();
  mkdirSync(join(folder, 'outside'));
  writeFileSync(join(folder, 'outside', 'secret'), 'secret\n');
  mkdirSync(join(folder, 'workspace', 'sub'), { recursive: true });
});

const read = (path: string) => readVersion({ folder: join(folder, 'workspace'), path }, 1_000);

describe('readVersion', () => {
  it('reads a file and the target of a symlink', async () => {
    writeFileSync(join(folder, 'workspace', 'sub', 'a'), 'a\n');
    symlinkSync('../../outside/secret', join(folder, 'workspace', 'sub', 'link'));
    expect(await read('sub/a')).toEqual({ text: 'a\n' });
    expect(await read('sub/link')).toEqual({ text: '../../outside/secret\n' });
  });

  it('does not follow a symlink that has replaced a folder, nor leave the folder', async () => {
    symlinkSync(join(folder, 'outside'), join(folder, 'workspace', 'swapped'));
    expect(await read('swapped/secret')).toEqual({ reason: 'cannot be read' });
    expect(await read('../outside/secret')).toEqual({ reason: 'cannot be read' });
    expect(await read('sub/../../outside/secret')).toEqual({ reason: 'cannot be read' });
  });

  it('does not wait for a FIFO that has replaced a file, and names binary and large files', async () => {
    execFileSync('mkfifo', [join(folder, 'workspace', 'pipe')]);
    writeFileSync(join(folder, 'workspace', 'binary'), Buffer.from([0, 1, 2]));
    writeFileSync(join(folder, 'workspace', 'large'), '');
    truncateSync(join(folder, 'workspace', 'large'), 1e12);
    expect(await read('pipe')).toEqual({ reason: 'cannot be read' });
    expect(await read('binary')).toEqual({ reason: 'binary' });
    expect(await read('large')).toEqual({ reason: 'too large for a diff' });
    expect(await read('missing')).toEqual({ reason: 'cannot be read' });
  });
});
