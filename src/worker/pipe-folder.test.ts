import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { createTestWorker } from '../../tests/support/worker.ts';
import { createInstanceFolder, type InstanceFolder } from './instance-folder.ts';
import { createPipeFolder, memoryPlaces, sweepPipes } from './pipe-folder.ts';
import { createProcProcessTable } from './proc-process-table.ts';

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

describe('the folder for pipes', () => {
  test('is a private one in the first place that is in memory, and removed at the end', async () => {
    const pipes = createPipeFolder(instance.path, [join(folder, 'none'), folder, memory, '/dev/shm'], table);
    expect(pipes.path).toBe(join(memory, `nacre-${basename(instance.path)}`));
    expect(statSync(pipes.path).mode & 0o7777).toBe(0o700);
    await pipes.remove();
    await pipes.remove();
    expect(readdirSync(memory)).toEqual([]);
  });

  test('is in the folder of the server where nothing is, where others could replace it, and where something is in the way', async () => {
    const ownFolder = join(instance.path, 'fifos');
    const inPlace = () => createPipeFolder(instance.path, [memory], table).path;
    expect(createPipeFolder(instance.path, [folder], table).path).toBe(ownFolder);
    chmodSync(memory, 0o777);
    expect(inPlace()).toBe(ownFolder);
    chmodSync(memory, 0o700);
    symlinkSync(folder, join(memory, `nacre-${basename(instance.path)}`));
    expect(inPlace()).toBe(ownFolder);
    await createPipeFolder(instance.path, [folder], table).remove();
    expect(existsSync(instance.path)).toBe(true);
  });

  test("may be in the user's own place for what does not last", () => {
    expect(memoryPlaces({ XDG_RUNTIME_DIR: '/run/user/7' })).toEqual(['/run/user/7', '/dev/shm']);
    for (const none of [{}, { XDG_RUNTIME_DIR: '' }, { XDG_RUNTIME_DIR: 'relative' }])
      expect(memoryPlaces(none)).toEqual(['/dev/shm']);
  });

  test('E2: is swept after its server was killed, and nothing else is', async () => {
    const living = `nacre-${basename(instance.path)}`;
    const dead = living.replace(/-(\d+)-(\d+)-/, '-99999999-$2-');
    const elsewhere = dead.replace(/^nacre-[0-9a-f]{8}/, 'nacre-00000000');
    for (const name of [living, dead, elsewhere, dead.slice('nacre-'.length), 'nacre-notes'])
      mkdirSync(join(memory, name, 'deep'), { recursive: true });
    expect(await sweepPipes(memory, table)).toEqual([dead]);
    expect(readdirSync(memory)).toHaveLength(4);
  });
});

describe.each(['off', 'workspace', 'strict'] as const)('with sandbox %s', (sandbox) => {
  test('E5: no command sees the pipes of others, and nothing of them is left at the end', async () => {
    const environment = { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: memory };
    const cwd = join(folder, 'project');
    mkdirSync(cwd);
    const here = createTestWorker({ highestLevel: 'namespace', sandbox, cwd, workspace: [cwd], environment });
    onTestFinished(() => here.close());
    await here.run('true', { cwd });
    const [name = ''] = readdirSync(memory);
    expect(readdirSync(join(memory, name)).length).toBeGreaterThan(8);
    const { stdout } = await here.run(`ls -A ${memory}/* 2>/dev/null | grep -c fifo`, { cwd });
    expect(stdout).toBe('0\n');
    await here.worker.close();
    expect(readdirSync(memory)).toEqual([]);
  });
});
