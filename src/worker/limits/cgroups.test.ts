import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createInstanceFolder, isDeadServer } from '../folders/instance-folder.ts';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import { createCgroups } from './cgroups.ts';
import { findCgroupParents, parseMounts, parseOwnGroups, toCgroupParents } from './find-cgroup-parents.ts';

const mountinfo = [
  '24 1 8:1 / / rw - ext4 /dev/root rw',
  '31 25 0:28 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
  '32 25 0:29 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
  '33 25 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
].join('\n');

describe('the cgroups of a server', () => {
  test('are parsed from /proc/self/mountinfo and /proc/self/cgroup', () => {
    expect(parseMounts(mountinfo)).toEqual([
      { version: 1, root: '/', point: '/sys/fs/cgroup/memory', options: ['rw', 'memory'] },
      { version: 1, root: '/docker/abc', point: '/sys/fs/cgroup/pids', options: ['rw', 'pids'] },
      { version: 2, root: '/', point: '/sys/fs/cgroup/unified', options: ['rw'] },
    ]);
    expect(parseOwnGroups('4:memory,x:/a:b\n0::/c\nnonsense\n')).toEqual([
      { controllers: ['memory', 'x'], path: '/a:b' },
      { controllers: [], path: '/c' },
    ]);
  });

  test('of version 1 are below the mount, even if only a part of the hierarchy is mounted', () => {
    const point = temporaryFolder();
    mkdirSync(join(point, 'job'));
    const mount = { version: 1, point, options: ['pids'] } as const;
    const find = (root: string, path: string) =>
      toCgroupParents([{ controllers: ['pids', 'cpu'], path }], [{ ...mount, root }], false)[0]?.folder;
    expect(find('/', '/job')).toBe(join(point, 'job'));
    expect(find('/docker/abc', '/docker/abc/job')).toBe(join(point, 'job'));
    expect(find('/docker/abc', '/elsewhere')).toBe(point);
    expect(find('/', '/gone')).toBe(point);
    expect(toCgroupParents([{ controllers: ['pids'], path: '/' }], [], false)).toEqual([]);
  });

  test('of version 2 are those with controllers enabled for their children: the server’s own or its parent', () => {
    const point = temporaryFolder();
    const own = join(point, 'session');
    mkdirSync(own);
    const mounts = [{ version: 2, root: '/', point, options: [] }] as const;
    const find = (mayEnable = false) =>
      toCgroupParents([{ controllers: [], path: '/session' }], mounts, mayEnable);
    expect(find()).toEqual([]);
    for (const folder of [own, point]) writeFileSync(join(folder, 'cgroup.controllers'), 'cpu memory pids\n');
    writeFileSync(join(point, 'cgroup.subtree_control'), 'pids\n');
    expect(find()).toEqual([{ version: 2, folder: point, controllers: ['pids'] }]);
    expect(existsSync(join(own, 'cgroup.subtree_control'))).toBe(false);
    find(true);
    expect(readFileSync(join(own, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids');
    expect(toCgroupParents([{ controllers: [], path: '/' }], [], true)).toEqual([]);
  });
});

describe('a cgroup for a command', () => {
  const table = createProcProcessTable();

  test('is not created if no limit needs it, or none can be created', () => {
    expect(createCgroups('x').create('cmd', { fileBytes: 1 })).toBeNull();
    const folder = join(temporaryFolder(), 'missing');
    const nowhere = createCgroups('x', () => [{ version: 2, folder, controllers: ['memory', 'pids'] }]);
    expect(nowhere.create('cmd', { maxProcesses: 5 })).toBeNull();
  });

  test('sets the limits of version 2, and a folder that is not a cgroup is not used', () => {
    const folder = temporaryFolder();
    const plain = createCgroups('x', () => [{ version: 2, folder, controllers: ['memory', 'pids'] }]);
    expect(plain.create('cmd', { treeMemoryBytes: 5e8 })).toBeNull();
    const read = (file: string) => readFileSync(join(folder, 'nacre.x.probe', file), 'utf8');
    expect(['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'].map(read)).toEqual([
      '1073741824',
      '0',
      '1',
      '1000',
    ]);
  });

  test('of a dead server is removed, that of a living one is kept', async () => {
    const folder = temporaryFolder();
    const cgroups = createCgroups('x', () => [{ version: 2, folder, controllers: ['pids'] }]);
    const names = ['nacre.dead.cmd_1', 'nacre.alive.cmd_1', 'nacre.dead', 'other.dead.cmd_1'];
    for (const name of names) mkdirSync(join(folder, name));
    await cgroups.sweep(async (owner) => owner === 'dead');
    expect(names.filter((name) => existsSync(join(folder, name)))).toEqual(names.slice(1));
  });

  test('a server is dead when its pid is free or used by another process', async () => {
    const folder = await createInstanceFolder(temporaryFolder(), table);
    const [place, pid, start, end] = basename(folder.path).split('-');
    await folder.remove();
    const dead = (...name: (string | number | undefined)[]) => isDeadServer(name.join('-'), table);
    expect(await dead(place, pid, start, end)).toBe(false);
    expect(await dead(place, pid, Number(start) - 1, end)).toBe(true);
    expect(await dead(place, spawnSync('true').pid, start, end)).toBe(true);
    // In another pid namespace the same pid is another process.
    expect(await dead('00000000', pid, Number(start) - 1, end)).toBe(false);
    expect(await dead('nonsense')).toBe(false);
  });

  test('limits processes, and is removed afterwards', async ({ skip }) => {
    const group = createCgroups(`test-${process.pid}`).create('cmd', {
      maxProcesses: 5,
      treeMemoryBytes: 5e7,
    });
    if (group === null) return skip('no cgroup is writable');
    const folders = group.procsFiles.map((file) => join(file, '..'));
    const enter = group.procsFiles.map((file) => `echo $$ > ${file}`).join(' && ');
    const fork = 'my $p = fork; exit 7 unless defined $p; if (!$p) { select undef, undef, undef, 0.2; exit }';
    const { status } = spawnSync('bash', ['-c', `${enter}; perl -e 'for (1..9) { ${fork} }'`]);
    expect(status).toBe(7);
    expect(group.counts().refusedForks).toBeGreaterThan(0);
    expect(group.counts().memoryKills).toBe(0);
    await group.remove();
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
    expect(findCgroupParents({ mayEnable: false }).length).toBeGreaterThanOrEqual(1);
  });
});
