import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { needLevel } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { toEnterCommand } from './enter-layers.ts';
import { createLayer } from './layer.ts';

beforeEach((test) => needLevel(test, 'namespace'));

// Opens a folder as a descriptor that exec() keeps, and becomes a program.
const withDescriptor = `use POSIX; my ($folder, $fd) = splice @ARGV, 0, 2; open my $handle, '<', $folder or die;
  $^F = 65535; POSIX::dup2(fileno $handle, $fd) or die "$!"; exec @ARGV`;

describe('a program in a layer', () => {
  it.each([9, 40, 900])('does not inherit descriptor %i, which would lead below the layer', (fd) => {
    const base = temporaryFolder();
    const folder = join(base, 'workspace');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a'), 'a\n');
    const folders = [{ folder, aliases: [] }];
    const layer = createLayer({ store: join(base, 'store'), name: 'test', folders, onTopOf: [] });
    const enter = toEnterCommand(layer.folders) ?? [];
    const [perl = ''] = enter;
    const script = `ls -d /proc/self/fd/${fd}; echo b > /proc/self/fd/${fd}/a; echo c > a; cat a`;
    const inFolder = ['bash', '-c', `cd ${folder}; ${script}`];
    const { stdout } = spawnSync(perl, ['-e', withDescriptor, folder, String(fd), ...enter, ...inFolder]);
    expect(stdout.toString()).toBe('c\n');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('a\n');
  });
});
