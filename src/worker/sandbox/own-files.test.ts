import {
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { OwnFiles } from './own-files.ts';

describe('nacre’s own files', () => {
  let folder = '';
  beforeEach(() => {
    folder = temporaryFolder();
    mkdirSync(join(folder, 'a', 'own'), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const findOf = (...names: string[]) => {
    const own = new OwnFiles(names.map((name) => join(folder, name)));
    onTestFinished(() => own.close());
    return () => own.find().map((path) => path.slice(folder.length + 1));
  };

  test('are listed by canonical path, without those inside others, and only if they exist', () => {
    symlinkSync(join(folder, 'a', 'own'), join(folder, 'link'));
    mkdirSync(join(folder, 'a', 'own', 'audit'));
    expect(findOf('link', 'a/own/audit', 'missing')()).toEqual(['a/own']);
  });

  test('are found after a folder above them was renamed, in addition to what replaced them', () => {
    const find = findOf('a/own', 'a/token');
    writeFileSync(join(folder, 'a', 'token'), 'secret');
    expect(find()).toEqual(['a/own', 'a/token']);
    renameSync(join(folder, 'a'), join(folder, 'b'));
    expect(find()).toEqual(['b/own', 'b/token']);
    mkdirSync(join(folder, 'a', 'own'), { recursive: true });
    expect(find()).toEqual(['a/own', 'b/own', 'b/token']);
    rmSync(join(folder, 'b'), { recursive: true });
    expect(find()).toEqual(['a/own']);
  });

  test('are found behind a symlink that replaced the folder above them', () => {
    const find = findOf('a/own');
    expect(find()).toEqual(['a/own']);
    renameSync(join(folder, 'a'), join(folder, 'b'));
    symlinkSync('b', join(folder, 'a'));
    for (let turn = 0; turn < 2; turn += 1) expect(find()).toEqual(['b/own']);
    renameSync(join(folder, 'b'), join(folder, 'c'));
    expect(find()).toEqual(['c/own']);
  });

  test('E5: are found by each of their names', () => {
    writeFileSync(join(folder, 'token'), 'secret');
    linkSync(join(folder, 'token'), join(folder, 'second'));
    const find = findOf('token', 'second');
    for (let turn = 0; turn < 2; turn += 1) expect(find()).toEqual(['token', 'second']);
    renameSync(join(folder, 'token'), join(folder, 'moved'));
    linkSync(join(folder, 'moved'), join(folder, 'token'));
    for (let turn = 0; turn < 2; turn += 1) expect(find().sort()).toEqual(['moved', 'second', 'token']);
  });

  test('are skipped if a file replaced a folder above them', () => {
    const find = findOf('a/own');
    expect(find()).toEqual(['a/own']);
    rmSync(join(folder, 'a'), { recursive: true });
    writeFileSync(join(folder, 'a'), '');
    expect(find()).toEqual([]);
  });

  test('are closed when they are deleted', () => {
    const find = findOf('a/own');
    const openFiles = () =>
      readdirSync('/proc/self/fd').filter((fd) => tryReadLink(`/proc/self/fd/${fd}`).startsWith(folder));
    for (let turn = 0; turn < 3; turn += 1) {
      expect(find()).toEqual(['a/own']);
      expect(openFiles()).toHaveLength(1);
      rmSync(join(folder, 'a', 'own'), { recursive: true });
      expect(find()).toEqual([]);
      expect(openFiles()).toEqual([]);
      mkdirSync(join(folder, 'a', 'own'));
    }
  });
});

// `readdirSync` lists its own descriptor, which is closed by now.
function tryReadLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe('without a sandbox', () => {
  let here: TestWorker;
  afterEach(() => here.close());

  test('E5: nacre’s own folders cannot be read, even if they were moved or created later', async () => {
    const outer = temporaryFolder();
    onTestFinished(() => rmSync(outer, { recursive: true }));
    const [state, config] = [join(outer, 'local', 'state'), join(outer, 'config')];
    here = createTestWorker({ highestLevel: 'namespace', stateDir: state, ownFiles: [config] });
    await here.run(`mv ${outer}/local ${outer}/moved; mkdir ${config}; touch ${config}/rules`);
    for (let turn = 0; turn < 3; turn += 1)
      expect((await here.run(`ls -A ${outer}/moved/state ${config} | grep -c "^[a-z]"`)).stdout).toBe('0\n');
  });
});
