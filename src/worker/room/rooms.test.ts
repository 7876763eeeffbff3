import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';
import { needLevel, needPrograms, needPty } from '../../../tests/support/needs.ts';
import { pathWithout } from '../../../tests/support/path-without.ts';
import {
  commandLine,
  openDescriptors,
  processesWith,
  zombieChildren,
} from '../../../tests/support/processes.ts';
import { serverScript, waitForPort } from '../../../tests/support/room-server.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { WorkerOptions } from '../worker-options.ts';

let here: TestWorker;
let project = '';
const make = (options: Partial<WorkerOptions>) => {
  here = createTestWorker({
    highestLevel: 'namespace',
    supervisionRequire: 'namespace',
    sandbox: 'workspace',
    ...options,
  });
  project = join(here.folder, 'project');
  mkdirSync(project);
};
const run = (room: string, script: string, more = {}) => here.run(script, { cwd: project, room, ...more });
const start = (room: string, script: string, more = {}) =>
  here.start(script, { cwd: project, room, ...more });
const stop = (id: string) => here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
const fetchRoot = 'curl -s --max-time 5 http://localhost:3000/ || echo "failed with $?"';
const foldersOfRooms = () => {
  const runs = join(here.folder, 'state', 'run');
  return readdirSync(runs).flatMap((name) => {
    const rooms = join(runs, name, 'rooms');
    return existsSync(rooms) ? readdirSync(rooms).map((room) => join(rooms, room)) : [];
  });
};

beforeEach(async (context) => {
  here = createTestWorker();
  needPrograms(context, 'curl', 'nsenter');
  await needLevel(context, 'namespace');
  await here.close();
});
afterEach(async () => {
  await here.close();
  expect(processesWith(`HOME=${here.folder}`)).toEqual([]);
  expect(zombieChildren()).toEqual([]);
});

const isolations = [
  ['workspace', 'off', []],
  ['strict', 'off', []],
  ['workspace', 'filtered', ['allowed.example']],
  ['strict', 'filtered', ['allowed.example']],
] as const;

describe.each(isolations)('in the sandbox %s with the network %s', (sandbox, _network, networkAllow) => {
  beforeEach(() => make({ sandbox, networkAllow }));

  test('commands of one room share loopback and /tmp, and another room shares neither', async () => {
    const server = await start('one', `echo from one > /tmp/note; ${serverScript(3000, 'hello')}`);
    await waitForPort(here.worker, server, 3000);
    const same = await run('one', `cat /tmp/note; ${fetchRoot}`);
    expect(same.stdout).toBe('from one\nhello');
    expect(same.state.enforcement?.gaps.join()).not.toContain('share');
    const other = await run('two', `ls -A /tmp; ${fetchRoot}`);
    expect(other.stdout).not.toContain('note');
    expect(other.stdout).toContain('failed with 7');
    await stop(server);
    expect((await run('one', fetchRoot)).stdout).toBe('failed with 7\n');
  });
});

describe('a room', () => {
  beforeEach(() => make({}));

  test('is shared by persistent shells, terminals, long scripts and other working directories', async (context) => {
    await needPty(context);
    const elsewhere = join(here.folder, 'elsewhere');
    mkdirSync(elsewhere);
    const shell = await run('one', `${serverScript(3000, 'from the shell')} & echo a >> /tmp/note`, {
      session: 'one/main',
    });
    expect(shell.state.end?.leftRunning.length).toBeGreaterThan(0);
    await expect.poll(async () => (await run('one', fetchRoot)).stdout).toBe('from the shell');
    const terminal = await run('one', `echo b >> /tmp/note; ${fetchRoot}`, {
      terminal: { cols: 80, rows: 24 },
    });
    expect(terminal.stdout).toContain('from the shell');
    const long = await run('one', `${'#'.repeat(9_000)}\necho c >> /tmp/note; ${fetchRoot}`);
    expect(long.stdout).toBe('from the shell');
    const other = await run('one', `cat /tmp/note; ${fetchRoot}`, { cwd: elsewhere });
    expect(other.stdout).toBe('a\nb\nc\nfrom the shell');
    expect((await run('one', 'echo d >> /tmp/note; cat /tmp/note', { session: 'one/main' })).stdout).toBe(
      'a\nb\nc\nd\n',
    );
  });

  test('does not let its commands configure the network, see each other or reach its folder by path', async () => {
    const sleeper = await start('one', 'exec sleep 60');
    const { stdout } = await run(
      'one',
      `grep CapEff /proc/self/status; grep CapPrm /proc/self/status
       ip link set lo down 2>&1; unshare -Ur ip link set lo down 2>&1 | tail -1
       echo 1 2>&1 > /proc/sys/net/ipv4/ip_forward
       nsenter --net=/proc/1/ns/net true 2>&1
       ls -d /proc/[0-9]* | wc -l; ls -A ${foldersOfRooms()[0]} ${join(here.folder, 'state')} 2>&1; ps -ef | grep -c [s]leep`,
    );
    expect(stdout).toContain('CapEff:\t0000000000000000\nCapPrm:\t0000000000000000');
    expect(stdout).not.toContain('rooms/0:\ntmp');
    expect(stdout.trim().split('\n').at(-1)).toBe('0');
    expect(
      (await run('one', 'cat /sys/class/net/lo/operstate; curl -s localhost:1')).state.end?.exitCode,
    ).toBe(7);
    await stop(sleeper);
  });

  test('reports for each command only its own ports', async () => {
    const one = await start('one', serverScript(3001, ''));
    const two = await start('one', serverScript(3002, ''));
    await waitForPort(here.worker, one, 3001);
    await waitForPort(here.worker, two, 3002);
    expect((await here.worker.observe(one)).listening).toEqual([3001]);
    expect((await here.worker.observe(two)).listening).toEqual([3002]);
    await Promise.all([one, two].map(stop));
  });

  test('is removed with hostile files in its /tmp when its connection and its last command have ended', async () => {
    const outside = join(here.folder, 'outside');
    mkdirSync(outside);
    await run(
      'one',
      `ln -s ${outside} /tmp/link; mkdir -p /tmp/closed/below; touch /tmp/closed/below/x; chmod 000 /tmp/closed/below /tmp/closed
       mkdir /tmp/deep; cd /tmp/deep; name=$(printf 'x%.0s' {1..200}); for i in {1..40}; do mkdir $name; cd $name; done`,
    );
    const [folder = ''] = foldersOfRooms();
    const sleeper = await start('one', 'sleep 60');
    await here.worker.closeRoom('one');
    expect(existsSync(folder)).toBe(true);
    await stop(sleeper);
    await expect.poll(() => existsSync(folder)).toBe(false);
    expect(existsSync(outside)).toBe(true);
    expect((await run('two', 'ls -A /tmp')).stdout).not.toContain('closed');
  });

  test('admits no command that starts while its connection ends, and nothing of it is left', async () => {
    await run('one', 'true');
    const before = openDescriptors();
    const keys = Array.from({ length: 12 }, (_, index) => `late ${index}`);
    await Promise.all(
      keys.map(async (key, index) => {
        const outcome = run(key, 'echo ran').then(
          ({ stdout }) => stdout,
          (error: Error) => error.message,
        );
        for (let turn = 0; turn < index * index; turn++) await new Promise(setImmediate);
        await here.worker.closeRoom(key);
        expect(await outcome).toMatch(/^ran\n$|connection of this command has ended/);
      }),
    );
    await expect(run('late 0', 'true')).rejects.toThrow('The connection of this command has ended.');
    await expect.poll(foldersOfRooms).toHaveLength(1);
    await expect.poll(() => openDescriptors() - before).toBeLessThan(3);
    await expect.poll(() => processesWith(`HOME=${here.folder}`).length).toBeLessThan(8);
  });

  test('starts a command again if another one added a mount point meanwhile', async () => {
    const [one, two] = ['/tmp/nacre-room-test-3', '/tmp/nacre-room-test-4'];
    for (const folder of [one, two]) mkdirSync(join(folder, 'sub'), { recursive: true });
    try {
      const attack = run('one', `mv ${two} /tmp/moved; ls -d ${two} /tmp/moved`, { cwd: join(one, 'sub') });
      const other = run('one', 'sleep 1', { cwd: join(two, 'sub') });
      expect((await attack).stdout).toBe(`${two}\n`);
      expect((await other).state.end?.exitCode).toBe(0);
    } finally {
      for (const folder of [one, two]) rmSync(folder, { recursive: true });
    }
  });

  test('does not mount on a name in /tmp that a command has replaced by a symlink', async () => {
    const target = join(here.folder, 'target');
    const other = '/tmp/nacre-room-test';
    mkdirSync(join(other, 'sub'), { recursive: true });
    mkdirSync(target);
    try {
      await run('one', `ln -s /oldroot${target} ${other}`);
      const { stdout, state } = await run('one', 'pwd; touch x; ls -d /tmp/*', { cwd: join(other, 'sub') });
      expect(stdout).toContain(`${other}/sub\n`);
      expect(state.enforcement?.gaps.join()).toContain('has a /tmp of its own');
      expect(state.enforcement?.discardsTmp).toBe(true);
      expect(existsSync(join(other, 'sub', 'x'))).toBe(true);
      expect(readdirSync(target)).toEqual([]);
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test('keeps a workspace in /tmp mounted, although other commands of the room see the same /tmp', async () => {
    const other = '/tmp/nacre-room-test-2';
    mkdirSync(join(other, 'sub'), { recursive: true });
    try {
      const inside = { cwd: join(other, 'sub') };
      const first = await run('one', 'touch kept; echo a > /tmp/note', inside);
      expect(first.state.enforcement?.gaps.join()).not.toContain('has a /tmp');
      const attack = await run(
        'one',
        `rm -rf ${other}; mv ${other} /tmp/moved; ls -A ${other}; cat /tmp/note`,
      );
      expect(attack.stdout).toBe('a\n');
      expect((await run('one', 'ls; cat /tmp/note', inside)).stdout).toBe('kept\na\n');
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test('needs few processes and descriptors, and both are released', async () => {
    await run('one', 'true');
    const before = openDescriptors();
    for (const room of ['two', 'three', 'four']) {
      await run(room, 'true');
      await here.worker.closeRoom(room);
    }
    await expect.poll(() => openDescriptors() - before).toBeLessThan(3);
    await expect.poll(foldersOfRooms).toHaveLength(1);
  });
});

test('shells of a room start from a fork server in its network, which one room has at a time', async () => {
  const cwd = mkdtempSync('/var/tmp/nacre-rooms-');
  make({ cwd });
  const forkServers = () => {
    const [instance] = readdirSync(join(here.folder, 'state', 'run'));
    return processesWith(`NACRE_INSTANCE=${instance}`).filter((pid) =>
      commandLine(pid).includes('$signalfd'),
    );
  };
  const networkOf = async (room: string) => {
    await run(room, 'true', { cwd });
    return (await run(room, 'readlink /proc/self/ns/net', { cwd })).stdout.trim();
  };
  const one = await networkOf('one');
  await expect.poll(forkServers).toHaveLength(2);
  expect(forkServers().map((pid) => readlinkSync(`/proc/${pid}/ns/net`))).toContain(one);
  expect(await networkOf('one')).toBe(one);
  expect(await networkOf('two')).not.toBe(one);
  expect(forkServers()).toHaveLength(2);
  await here.worker.closeRoom('one');
  await expect.poll(forkServers).toHaveLength(1);
  const two = await networkOf('two');
  await expect.poll(forkServers).toHaveLength(2);
  expect(await networkOf('two')).toBe(two);
  rmSync(cwd, { recursive: true });
});

test('a refused host is listed for the command that asked for it, not for others of its room', async () => {
  make({ networkAllow: ['allowed.example'] });
  const other = await start('one', 'read -r; true', { stdin: 'open' });
  const { state, stdout } = await run('one', 'curl -s http://denied.example/');
  expect(stdout).toContain('denied.example:80 is not allowed');
  expect(state.end?.deniedHosts).toEqual(['denied.example:80']);
  await here.worker.write(other, Buffer.from('\n'), { eof: true });
  expect((await here.worker.wait(other, 10_000)).end?.deniedHosts).toEqual([]);
});

test.each([
  ['no network', []],
  ['listed hosts', ['allowed.example']],
])(
  'without nsenter every command has its own loopback with %s, and that is a gap',
  async (_, networkAllow) => {
    // Not below /tmp, because the programs there cannot be seen in a sandbox.
    const folder = mkdtempSync('/var/tmp/nacre-rooms-');
    const environment = { HOME: folder, PATH: pathWithout(folder, { hidden: ['nsenter'] }) };
    make({ environment, networkAllow });
    const { state, stdout } = await run('one', 'echo a > /tmp/note; echo ran');
    expect(stdout).toBe('ran\n');
    const gap = expect.stringContaining('nsenter is missing; it is part of util-linux');
    expect(state.enforcement?.gaps).toContainEqual(gap);
    expect((await here.worker.report()).gaps).toContainEqual(gap);
    expect((await run('one', 'cat /tmp/note')).stdout).toBe('a\n');
    const denied = (await run('one', 'curl -s http://denied.example/')).state.end?.deniedHosts;
    expect(denied).toEqual(networkAllow.length > 0 ? ['denied.example:80'] : []);
    rmSync(folder, { recursive: true });
  },
);

test('E2: rooms work for an ordinary user, and nothing survives', async () => {
  expect(await runChild('rooms')).toEqual({
    workspace: { same: 'hello', other: 'failed', tmp: 'note', otherTmp: '', caps: '0000000000000000' },
    strict: { same: 'hello', other: 'failed', tmp: 'note', otherTmp: '', caps: '0000000000000000' },
    filtered: { same: 'hello', other: 'failed', tmp: 'note', otherTmp: '', caps: '0000000000000000' },
    survivors: 0,
  });
});
