import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { buildChild } from '../../../tests/support/child.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import { createInstanceFolder, isDeadServer, sweepFolders } from './instance-folder.ts';

const table = createProcProcessTable();
const isRoot = process.getuid?.() === 0;
let folder = '';
let state = '';
let runs = '';
beforeEach(() => {
  folder = temporaryFolder();
  state = join(folder, 'state');
  runs = join(state, 'run');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that keeps a folder alive, as a server does. */
async function spawnServer(path: string): Promise<ChildProcess> {
  const file = join(folder, 'liveness-socket.mjs');
  await buildChild('liveness-socket', file);
  const child = spawn(process.execPath, [file, path]);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const modeOf = (path: string) => statSync(path).mode & 0o7777;

describe('the folder of a server', () => {
  test('is private, like every folder that nacre creates above it, and removed at the end', async () => {
    const own = await createInstanceFolder(state, table);
    expect([state, runs, own.path].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
    writeFileSync(join(own.path, 'x'), '');
    await own.remove();
    await own.remove();
    expect(readdirSync(runs)).toEqual([]);
  });

  test('is different for every server, even in the same process', async () => {
    const [first, second] = [
      await createInstanceFolder(state, table),
      await createInstanceFolder(state, table),
    ];
    expect(first.path).not.toBe(second.path);
    await first.remove();
    expect(existsSync(second.path)).toBe(true);
    await second.remove();
  });

  test('does not change the mode of an existing state folder, only of folders inside it', async () => {
    mkdirSync(state);
    chmodSync(state, 0o1777);
    mkdirSync(runs);
    chmodSync(runs, 0o755);
    const own = await createInstanceFolder(state, table);
    expect([modeOf(state), modeOf(runs)]).toEqual([0o1777, 0o700]);
    await own.remove();
  });

  test('may be behind a symlink of the user', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), state);
    await (await createInstanceFolder(state, table)).remove();
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['run']);
  });

  const refused = (reason: RegExp) => ({
    code: 'resources_unavailable',
    message: expect.stringMatching(reason),
    hint: expect.stringContaining('state_dir'),
  });

  test('is refused if other users could replace it', async () => {
    mkdirSync(state);
    chmodSync(state, 0o777);
    await expect(createInstanceFolder(state, table)).rejects.toMatchObject(refused(/others can write/));
    expect(modeOf(state)).toBe(0o777);
  });

  test('is refused if a file, or a symlink below the state folder, is in the way', async () => {
    writeFileSync(state, 'mine');
    await expect(createInstanceFolder(state, table)).rejects.toMatchObject(refused(/state/));
    expect(readFileSync(state, 'utf8')).toBe('mine');
    rmSync(state);
    mkdirSync(state, { mode: 0o700 });
    mkdirSync(join(folder, 'target'));
    symlinkSync(join(folder, 'target'), runs);
    await expect(createInstanceFolder(state, table)).rejects.toMatchObject(refused(/not a folder/));
    expect(readdirSync(join(folder, 'target'))).toEqual([]);
  });

  test('is refused if another user owns the state folder', async () => {
    // Root creates a folder for another user; an ordinary user tries a folder of root.
    const foreign = isRoot ? state : '/root/nacre';
    if (isRoot) {
      mkdirSync(state);
      spawnSync('chown', ['65534', state]);
    }
    await expect(createInstanceFolder(foreign, table)).rejects.toMatchObject(refused(/another user|EACCES/));
  });
});

describe('a sweep', () => {
  test('removes the folders of dead servers, and spares living servers and other files', async () => {
    const own = await createInstanceFolder(state, table);
    const [name = ''] = readdirSync(runs);
    const reborn = name.replace(/-\d+-(\w+)$/, '-1-$1');
    const gone = name.replace(/-\d+-(\d+)-/, '-99999999-$1-');
    for (const other of [reborn, gone, 'notes', '12 apostles']) {
      mkdirSync(join(runs, other, 'deep'), { recursive: true });
    }
    expect([...(await sweepFolders(runs, table))].sort()).toEqual([reborn, gone].sort());
    expect(readdirSync(runs).sort()).toEqual([name, 'notes', '12 apostles'].sort());
    await own.remove();
  });

  test('judges a server of another pid namespace by its socket, and never by a clock', async () => {
    const own = await createInstanceFolder(state, table);
    const [name = ''] = readdirSync(runs);
    const foreign = name.replace(/^[0-9a-f]+/, '00000000').replace(/-\d+-/, '-99999999-');
    const path = join(runs, foreign);
    mkdirSync(path);
    const silent = () => utimesSync(path, 1, 1);
    silent();
    expect(await sweepFolders(runs, table)).toEqual([]);
    const server = await spawnServer(path);
    await expect.poll(() => readdirSync(path)).toEqual(['alive', 'boot']);
    silent();
    expect(await sweepFolders(runs, table)).toEqual([]);
    server.kill('SIGSTOP');
    expect(await sweepFolders(runs, table)).toEqual([]);
    server.kill('SIGKILL');
    await once(server, 'exit');
    expect(await sweepFolders(runs, table)).toEqual([foreign]);
    await own.remove();
  });

  test('removes what an earlier boot left on a local disk', async () => {
    const own = await createInstanceFolder(state, table);
    const [name = ''] = readdirSync(runs);
    const earlier = name.replace(/^[0-9a-f]+/, '00000000');
    mkdirSync(join(runs, earlier));
    writeFileSync(join(runs, earlier, 'boot'), '6c6fb1ab-0000-0000-0000-000000000000');
    expect(await sweepFolders(runs, table)).toEqual([earlier]);
    await own.remove();
  });

  test('spares a server whose start time has another format, while a process with its pid exists', async () => {
    const { path, remove } = await createInstanceFolder(state, table);
    const asDate = basename(path).replace(/-(\d+)-(\d+)-/, '-$1-Mon_Jan_5_10_11_12_2026-');
    expect(await isDeadServer(asDate, table)).toBe(false);
    expect(await isDeadServer(basename(path).replace(/-(\d+)-(\d+)-/, '-$1-$2$2-'), table)).toBe(true);
    await remove();
  });

  test('removes nothing while start times cannot be read', async () => {
    const own = await createInstanceFolder(state, table);
    const blind = { ...table, startTime: () => Promise.reject(new Error('EMFILE')) };
    expect(await sweepFolders(runs, blind)).toEqual([]);
    expect(existsSync(own.path)).toBe(true);
    await own.remove();
  });
});
