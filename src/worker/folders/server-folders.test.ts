import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { needRoot } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import { createInstanceFolder, type InstanceFolder } from './instance-folder.ts';
import { createPipeFolder, createServerFolders, memoryFolders, sweepPipes } from './server-folders.ts';

const table = createProcProcessTable();
let folder = '';
let memory = '';
let instance: InstanceFolder;
beforeEach(async () => {
  folder = temporaryFolder();
  memory = mkdtempSync('/dev/shm/nacre-test-');
  instance = await createInstanceFolder(join(folder, 'state'), table);
});
afterEach(async () => {
  await instance.remove();
  for (const path of [folder, memory]) rmSync(path, { recursive: true });
});

const uid = process.getuid?.();
const inMemory = () => join(memory, 'nacre');
const make = (...folders: readonly string[]) => createPipeFolder(instance.path, folders, table);

describe('the folder for FIFOs', () => {
  test('is private, in the first candidate that is in memory, and removed at the end', async () => {
    const pipes = make(
      join(folder, 'none', 'nacre'),
      join(folder, 'nacre'),
      inMemory(),
      join(memory, 'other'),
    );
    expect(pipes?.path).toBe(join(inMemory(), basename(instance.path)));
    expect(readdirSync(memory)).toEqual(['nacre']);
    for (const path of [inMemory(), pipes?.path ?? '']) expect(statSync(path).mode & 0o7777).toBe(0o700);
    expect(pipes?.exists()).toBe(true);
    await pipes?.remove();
    await pipes?.remove();
    expect(pipes?.exists()).toBe(false);
    expect(readdirSync(memory)).toEqual([]);
  });

  test('shares its parent with other servers of the user, and leaves it to them', async () => {
    mkdirSync(join(inMemory(), 'of-another'), { recursive: true });
    await make(inMemory())?.remove();
    expect(readdirSync(inMemory())).toEqual(['of-another']);
  });

  test('is not created on disk, where other users could replace it, or where a symlink is in the way', () => {
    expect(make(join(folder, 'nacre'))).toBeNull();
    chmodSync(memory, 0o777);
    expect(make(inMemory())).toBeNull();
    chmodSync(memory, 0o700);
    symlinkSync(folder, inMemory());
    expect(make(inMemory())).toBeNull();
    rmSync(inMemory());
    mkdirSync(inMemory());
    symlinkSync(folder, join(inMemory(), basename(instance.path)));
    expect(make(inMemory())).toBeNull();
  });

  test('E5: is neither created nor swept in a folder of another user', async (context) => {
    needRoot(context);
    const dead = basename(instance.path).replace(/-(\d+)-(\d+)-/, '-99999999-$2-');
    mkdirSync(join(inMemory(), dead), { recursive: true });
    chownSync(inMemory(), 12_345, 12_345);
    expect(make(inMemory())).toBeNull();
    expect(await sweepPipes(inMemory(), table)).toEqual([]);
    expect(readdirSync(inMemory())).toEqual([dead]);
  });

  test('may be in XDG_RUNTIME_DIR', () => {
    const shared = `/dev/shm/nacre-${uid}`;
    expect(memoryFolders({ XDG_RUNTIME_DIR: '/run/user/7' })).toEqual([`/run/user/7/nacre-${uid}`, shared]);
    for (const none of [{}, { XDG_RUNTIME_DIR: '' }, { XDG_RUNTIME_DIR: 'relative' }])
      expect(memoryFolders(none)).toEqual([shared]);
  });

  test('E2: is removed by a sweep after its server was killed, and nothing else is', async () => {
    const living = basename(instance.path);
    const dead = living.replace(/-(\d+)-(\d+)-/, '-99999999-$2-');
    const elsewhere = dead.replace(/^[0-9a-f]{8}/, '00000000');
    for (const name of [living, dead, elsewhere, 'notes'])
      mkdirSync(join(inMemory(), name, 'deep'), { recursive: true });
    expect(await sweepPipes(inMemory(), table)).toEqual([dead]);
    expect(readdirSync(inMemory())).toHaveLength(3);
    rmSync(inMemory(), { recursive: true });
    mkdirSync(join(inMemory(), dead), { recursive: true });
    await sweepPipes(inMemory(), table);
    expect(readdirSync(memory)).toEqual([]);
  });
});

describe('E2: FIFOs are created on disk', () => {
  const serve = async () => {
    const folders = await createServerFolders(join(folder, 'state'), [inMemory()], table);
    onTestFinished(() => folders.remove());
    return folders;
  };

  test('once their folder in memory is gone, even if another folder has its name', async () => {
    const { fifos, path } = await serve();
    const [first = ''] = await fifos.take(1);
    expect(first).toMatch(`${inMemory()}/${basename(path)}/`);
    fifos.release([first]);
    expect(await fifos.take(1)).toEqual([first]);
    rmSync(inMemory(), { recursive: true });
    mkdirSync(dirname(first), { recursive: true });
    writeFileSync(first, '');
    fifos.release([first]);
    const [next = ''] = await fifos.take(1);
    expect(dirname(next)).toBe(join(path, 'fifos'));
    expect(readdirSync(dirname(first))).toEqual([basename(first)]);
    fifos.release([next]);
    expect(await fifos.take(1)).toEqual([next]);
  });

  test('if they cannot be created in memory', async () => {
    const { fifos, path } = await serve();
    mkdirSync(join(inMemory(), basename(path), 'fifo-5'));
    const [name = ''] = await fifos.take(1);
    expect(dirname(name)).toBe(join(path, 'fifos'));
  });
});

describe.each(['off', 'workspace', 'strict'] as const)('with sandbox %s', (sandbox) => {
  test('E5: no command sees the FIFOs of others, and none is left at the end', async () => {
    const environment = { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: memory };
    const cwd = join(folder, 'project');
    mkdirSync(cwd);
    const here = createTestWorker({ highestLevel: 'namespace', sandbox, cwd, workspace: [cwd], environment });
    onTestFinished(() => here.close());
    await here.run('true', { cwd });
    const own = join(memory, `nacre-${uid}`);
    const [name = ''] = readdirSync(own);
    expect(readdirSync(join(own, name)).length).toBeGreaterThan(8);
    mkdirSync(join(own, 'of-another-server', 'fifo-0'), { recursive: true });
    const { stdout } = await here.run(`ls -AR ${memory} 2>/dev/null | grep -c fifo`, { cwd });
    expect(stdout).toBe('0\n');
    rmSync(join(own, 'of-another-server'), { recursive: true });
    await here.worker.close();
    expect(readdirSync(memory)).toEqual([]);
  });
});

test('E2: a failed start leaves no folder, even after several attempts', async () => {
  const here = createTestWorker({
    supervisionRequire: 'namespace',
    environment: { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: memory },
  });
  onTestFinished(() => here.close());
  for (let turn = 0; turn < 2; turn += 1)
    await expect(here.run('true')).rejects.toMatchObject({ code: 'isolation_unavailable' });
  expect(readdirSync(memory)).toEqual([]);
  expect(readdirSync(join(here.folder, 'state', 'run'))).toEqual([]);
});

test('E2: commands still run after the folder in memory was removed', async () => {
  const here = createTestWorker({ environment: { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: memory } });
  onTestFinished(() => here.close());
  expect(await here.run('echo before')).toMatchObject({ stdout: 'before\n' });
  rmSync(memory, { recursive: true });
  writeFileSync(memory, '');
  expect(await here.run('echo after')).toMatchObject({ stdout: 'after\n' });
  await here.worker.close();
  expect(readdirSync(join(here.folder, 'state', 'run'))).toEqual([]);
});
