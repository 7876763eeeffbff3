import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { describeTree, runDirectly, runInLayer } from '../../../tests/support/layered.ts';
import { needPrograms, needRoot } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { ChangesStore } from './changes-store.ts';
import { LayerHelper } from './layer-helper.ts';
import { showStoredChanges } from './show-changes.ts';

const helper = new LayerHelper();
let base = '';
let workspace = '';
let store: ChangesStore;
let commands = 0;

beforeEach(() => {
  base = temporaryFolder();
  workspace = join(base, 'workspace');
  runDirectly(
    base,
    `mkdir -p workspace/sub/deep workspace/gone; cd workspace
     echo a > a; echo b > b; echo c > sub/c; echo d > sub/deep/d; echo g > gone/g; ln -s a link; chmod 640 b; chmod 750 sub`,
  );
  store = new ChangesStore(
    { stateDir: join(base, 'state'), instance: 'test', maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 },
    helper,
  );
});
afterAll(() => helper.close());

const run = async (script: string, mode: 'track' | 'hold') => {
  const layer = store.open([workspace]);
  const id = `cmd_${commands++}`;
  store.begin(layer, id);
  await runInLayer(layer, script);
  return store.finish(layer, { id, text: script, mode });
};

const script = `echo more >> a; rm b; echo new > sub/new; chmod 700 sub/deep; rm -r gone; mkdir gone; echo h > gone/h
  ln -sf b link; mkfifo pipe; mkdir -p x/y/z; echo z > x/y/z/z; rm -r sub/deep; echo file > sub/deep; ln sub/c sub/c2`;

describe('ChangesStore', () => {
  it('does not touch the workspace until held changes are applied, with the same result as a direct run', async () => {
    const before = describeTree(workspace, { times: true });
    const copy = join(base, 'copy');
    cpSync(workspace, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    const held = await run(script, 'hold');
    expect(held).toMatchObject({ state: 'held', conflicts: [] });
    expect(describeTree(workspace, { times: true })).toEqual(before);
    await store.apply({ id: held?.id ?? '' });
    runDirectly(copy, script);
    expect(describeTree(workspace)).toEqual(describeTree(copy));
    const undone = await store.undo({ id: held?.id ?? '' });
    expect(undone).toMatchObject({ state: 'held', conflicts: [] });
    expect(describeTree(workspace, { times: true })).toEqual(before);
    await store.apply({ id: held?.id ?? '' });
    expect(describeTree(workspace)).toEqual(describeTree(copy));
  });

  it('reports a command that changes nothing as undefined', async () => {
    expect(await run('cat a; ls -R', 'track')).toBeUndefined();
    expect(await store.list()).toEqual([]);
  });

  it('applies and undoes only the selected paths', async () => {
    const held = await run('echo 1 >> a; echo 2 >> sub/c; mkdir n; echo 3 > n/m; echo 4 > n/o', 'hold');
    const id = held?.id ?? '';
    expect(await store.apply({ id, paths: ['sub/c', 'n/m'] })).toMatchObject({ state: 'partial' });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(workspace, 'sub/c'), 'utf8')).toBe('c\n2\n');
    expect(existsSync(join(workspace, 'n/o'))).toBe(false);
    expect(await store.undo({ id })).toMatchObject({ state: 'held' });
    expect(existsSync(join(workspace, 'n'))).toBe(false);
    expect(readFileSync(join(workspace, 'sub/c'), 'utf8')).toBe('c\n');
    await store.discard({ id, paths: ['a'] });
    await store.apply({ id });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(workspace, 'n/o'), 'utf8')).toBe('4\n');
  });

  it('refuses an empty path and an empty list of paths, which could be taken for everything', async () => {
    const { id = '' } = (await run('echo 1 > a; echo 2 > b', 'hold')) ?? {};
    for (const paths of [[], [''], ['a', '']]) {
      await expect(store.apply({ id, paths })).rejects.toThrow('An empty path was given');
      await expect(store.discard({ id, paths })).rejects.toThrow('An empty path was given');
    }
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n');
    expect(await store.list()).toMatchObject([{ id, state: 'held' }]);
  });

  it('refuses a path that has not changed, and a part of a folder that was deleted or replaced as a whole', async () => {
    const { id = '' } =
      (await run('rm -r gone; rm -r sub; mkdir sub; echo c > sub/c; mkdir n', 'hold')) ?? {};
    for (const path of ['nothing', 'b', 'gone/g', 'sub/c', 'n/m', 'n\x000/gone']) {
      await expect(store.apply({ id, paths: ['n', path] }), path).rejects.toThrow(
        `${JSON.stringify(path)} is not one of`,
      );
      await expect(store.discard({ id, paths: [path] }), path).rejects.toThrow('Nothing was done');
    }
    expect(readFileSync(join(workspace, 'gone/g'), 'utf8')).toBe('g\n');
    expect(existsSync(join(workspace, 'n'))).toBe(false);
    expect(await store.apply({ id, paths: ['gone', 'n'] })).toMatchObject({ deleted: 1, created: 1 });
    expect(existsSync(join(workspace, 'gone'))).toBe(false);
  });

  it('reports and replaces no file that was only opened for writing', async () => {
    const { ino } = statSync(join(workspace, 'b'));
    expect(await run('exec 5>> b 6<> a', 'track')).toBeUndefined();
    expect(await run('exec 5>> b; echo 1 >> a', 'track')).toMatchObject({
      changed: 1,
      mode: 0,
      state: 'applied',
    });
    expect(statSync(join(workspace, 'b')).ino).toBe(ino);
    const sneaky = 'printf "z\\n" > b; touch -r sub/c b';
    runDirectly(workspace, 'touch -r sub/c b');
    expect(await run(sneaky, 'track')).toMatchObject({ state: 'applied' });
    expect(readFileSync(join(workspace, 'b'), 'utf8')).toBe('z\n');
  });

  it('keeps the old versions of paths that were not undone, because they were not selected or are conflicts', async () => {
    const { id = '' } = (await run('echo 1 > a; echo 2 > b; echo 3 > sub/c', 'track')) ?? {};
    expect(await store.undo({ id, paths: ['a'] })).toMatchObject({ state: 'partial' });
    appendFileSync(join(workspace, 'b'), 'by hand\n');
    expect(await store.undo({ id })).toMatchObject({ state: 'partial', conflicts: ['b'] });
    const read = () => ['a', 'b', 'sub/c'].map((name) => readFileSync(join(workspace, name), 'utf8'));
    expect(read()).toEqual(['a\n', '2\nby hand\n', 'c\n']);
    expect(await store.undo({ id, force: true })).toMatchObject({ state: 'held' });
    expect(read()).toEqual(['a\n', 'b\n', 'c\n']);
  });

  it('does not replace what another program has changed, unless forced to', async () => {
    const layer = store.open([workspace]);
    store.begin(layer, 'cmd_x');
    await runInLayer(layer, 'echo 1 >> a; rm b; rm -r gone; echo 2 >> sub/c');
    appendFileSync(join(workspace, 'a'), 'other\n');
    writeFileSync(join(workspace, 'gone', 'late'), '');
    const done = await store.finish(layer, { id: 'cmd_x', text: '', mode: 'track' });
    expect(done).toMatchObject({ state: 'partial', conflicts: ['a', 'gone'] });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\nother\n');
    expect(existsSync(join(workspace, 'b'))).toBe(false);
    expect(await store.apply({ id: 'cmd_x' })).toMatchObject({ conflicts: ['a', 'gone'] });
    await store.apply({ id: 'cmd_x', force: true });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n1\n');
    expect(existsSync(join(workspace, 'gone'))).toBe(false);
    await store.undo({ id: 'cmd_x' });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\nother\n');
    expect(existsSync(join(workspace, 'gone', 'late'))).toBe(true);
  });

  it('does not undo what was changed since', async () => {
    const done = await run('echo 1 >> a; echo 2 >> sub/c', 'track');
    appendFileSync(join(workspace, 'a'), 'later\n');
    expect(await store.undo({ id: done?.id ?? '' })).toMatchObject({ conflicts: ['a'] });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n1\nlater\n');
    expect(readFileSync(join(workspace, 'sub/c'), 'utf8')).toBe('c\n');
  });

  it('undoes commands that changed the same files, the newest first, again and again', async () => {
    const before = describeTree(workspace, { times: true });
    const track = async (...scripts: readonly string[]) => {
      const ids: string[] = [];
      for (const one of scripts) ids.unshift((await run(one, 'track'))?.id ?? '');
      return ids;
    };
    const [second = '', first = ''] = await track('echo 1 >> a; rm -r sub; mkdir n', 'echo 2 >> a; rm -r n');
    expect(await store.undo({ id: second })).toMatchObject({ state: 'held', conflicts: [] });
    await store.discard({ id: second });
    const later = await track('echo 3 >> a; echo x > n/x', 'rm a; mkdir a');
    for (const id of [...later, first])
      expect(await store.undo({ id }), id).toMatchObject({ state: 'held', conflicts: [] });
    expect(describeTree(workspace, { times: true })).toEqual(before);
  });

  it('names a file that another program has changed between two commands that are undone', async () => {
    const first = await run('echo 1 >> a', 'track');
    appendFileSync(join(workspace, 'a'), 'other\n');
    const second = await run('echo 2 >> a', 'track');
    expect(await store.undo({ id: second?.id ?? '' })).toMatchObject({ conflicts: [] });
    expect(await store.undo({ id: first?.id ?? '' })).toMatchObject({ conflicts: ['a'] });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n1\nother\n');
  });

  it('undoes a new folder that has a hard link to a file of the workspace', async () => {
    const before = describeTree(workspace, { times: true });
    const done = await run('mkdir sub/new; ln a sub/new', 'track');
    expect(await store.undo({ id: done?.id ?? '' })).toMatchObject({ state: 'held', conflicts: [] });
    expect(describeTree(workspace, { times: true })).toEqual(before);
  });

  it('runs commands on top of held changes, which are applied in order', async () => {
    await run('echo 1 >> a; mkdir n; echo n > n/n', 'hold');
    const [first = ''] = await store.heldBy(undefined, [workspace]);
    const layer = store.open([workspace], [first]);
    store.begin(layer, 'cmd_top');
    await runInLayer(layer, 'echo 2 >> a; echo m >> n/n; rm b');
    await store.finish(layer, { id: 'cmd_top', text: '', mode: 'hold' });
    await expect(store.apply({ id: 'cmd_top' })).rejects.toThrow('on top of');
    await expect(store.discard({ id: first })).rejects.toThrow('on top of');
    await store.apply({ id: first });
    expect(await store.apply({ id: 'cmd_top' })).toMatchObject({ state: 'applied', conflicts: [] });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n1\n2\n');
    expect(readFileSync(join(workspace, 'n/n'), 'utf8')).toBe('n\nm\n');
  });

  it('changes nothing outside while another program exchanges a folder of the workspace with a symlink', async () => {
    const outside = join(base, 'outside');
    runDirectly(
      base,
      'mkdir -p outside/deep; echo c > outside/c; echo d > outside/deep/d; ln -s ../outside workspace/other',
    );
    const before = describeTree(outside, { times: true });
    const held = await run('echo 1 >> sub/c; echo n > sub/new; echo 2 >> sub/deep/d; rm -r gone', 'hold');
    const id = held?.id ?? '';
    // renameat2() with RENAME_EXCHANGE, an even number of times.
    const exchange = `my ($n, $one, $other) = (${process.arch === 'x64' ? 316 : 276}, 'sub', 'other');
      until (-e '../stop') { for (1, 2) { syscall($n, -100, $one, -100, $other, 2) == 0 or die } }`;
    const racer = spawn('/usr/bin/perl', ['-e', exchange], { cwd: workspace, stdio: 'ignore' });
    const exited = once(racer, 'exit');
    const ends = { done: 0, refused: 0 };
    for (let round = 0; round < 60; round += 1)
      for (const way of ['apply', 'undo'] as const)
        await store[way]({ id }).then(
          () => (ends.done += 1),
          () => (ends.refused += 1),
        );
    writeFileSync(join(base, 'stop'), '');
    expect(await exited).toEqual([0, null]);
    expect(describeTree(outside, { times: true })).toEqual(before);
    expect(ends.done).toBeGreaterThan(0);
    const state = (await store.list())[0]?.state;
    if (state !== 'held') await store.undo({ id, force: true });
    await store.apply({ id, force: true });
    const read = (name: string) => readFileSync(join(workspace, name), 'utf8');
    expect(['sub/c', 'sub/new', 'sub/deep/d'].map(read)).toEqual(['c\n1\n', 'n\n', 'd\n2\n']);
  }, 60_000);

  it('runs no command on top of more layers than can be mounted', async () => {
    const entries = join(base, 'state/changes/entries');
    const hold = (first: number, last: number) =>
      runDirectly(
        base,
        `for n in {${first}..${last}}; do mkdir -p ${entries}/cmd_$n/new/0; ln -s ${workspace} ${entries}/cmd_$n/root-0; echo $n >> ${entries}/cmd_$n/new/0/n; done`,
      );
    hold(1, 100);
    const below = await store.heldBy(undefined, [workspace]);
    expect(below).toHaveLength(100);
    const layer = store.open([workspace], below);
    store.begin(layer, 'cmd_top');
    expect(await runInLayer(layer, '[ -e n ] && echo 1 >> a')).toBe(0);
    hold(101, 101);
    await expect(store.heldBy(undefined, [workspace])).rejects.toThrow(
      'More than 100 commands have held changes',
    );
  });

  it('compares changes with the held ones below them', async () => {
    const change = async (id: string, script: string, onTopOf: readonly string[]) => {
      const layer = store.open([workspace], onTopOf);
      store.begin(layer, id);
      await runInLayer(layer, script);
      return store.finish(layer, { id, text: script, mode: 'hold' });
    };
    await change(
      'cmd_one',
      'echo x > x; echo 1 >> a; mkdir n; echo n > n/n; rm -r gone; mkdir gone; rm b',
      [],
    );
    const second = await change('cmd_two', 'rm x; echo 2 >> a; echo m >> n/n; echo b > b; echo g > gone/g', [
      'cmd_one',
    ]);
    expect(second?.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'changed a',
      'created b',
      'created gone/g',
      'changed n/n',
      'deleted x',
    ]);
    const shown = await showStoredChanges(store, { id: 'cmd_two' }, { maxFiles: 10, maxChars: 1_000 });
    expect(shown.changes.find(({ path }) => path === 'a')?.diff).toBe('@@ -1,2 +1,3 @@\n a\n 1\n+2\n');
    const third = await change('cmd_three', 'rm a', ['cmd_one', 'cmd_two']);
    expect(third).toMatchObject({ deleted: 1 });
    for (const id of ['cmd_one', 'cmd_two', 'cmd_three'])
      expect(await store.apply({ id })).toMatchObject({ state: 'applied', conflicts: [] });
    expect(['x', 'a', 'b', 'gone/g'].map((name) => existsSync(join(workspace, name)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    for (const id of ['cmd_three', 'cmd_two', 'cmd_one'])
      expect(await store.undo({ id })).toMatchObject({ state: 'held', conflicts: [] });
    expect(readFileSync(join(workspace, 'gone/g'), 'utf8')).toBe('g\n');
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n');
  });

  it('keeps extended attributes, of changed, of new and of undone files', async (test) => {
    needPrograms(test, 'python3');
    const set = (path: string, value: string) =>
      `python3 -c 'import os; os.setxattr("${path}", "user.note", b"${value}")'`;
    test.skip(runDirectly(workspace, set('a', 'old')) !== 0, 'the file system has no attributes');
    const noteOf = (path: string) =>
      execFileSync('python3', ['-c', `import os; print(os.getxattr("${path}", "user.note").decode())`], {
        cwd: workspace,
        encoding: 'utf8',
      }).trim();
    const kept = await run(`echo more >> a; echo n > n; ${set('n', 'new')}; ${set('b', 'b')}`, 'track');
    expect(kept).toMatchObject({ created: 1, changed: 1, mode: 1, conflicts: [] });
    expect(['a', 'n', 'b'].map(noteOf)).toEqual(['old', 'new', 'b']);
    await run(set('a', 'newer'), 'track');
    expect(noteOf('a')).toBe('newer');
    await store.undo({ id: `cmd_${commands - 1}` });
    expect(noteOf('a')).toBe('old');
  });

  it('applies and undoes changes of the extended attributes of a folder', async (test) => {
    needPrograms(test, 'python3');
    const python = (code: string) => `python3 -c 'import os; ${code}'`;
    test.skip(
      runDirectly(workspace, python('os.setxattr("sub", "user.old", b"1")')) !== 0,
      'the file system has no attributes',
    );
    const attributes = () =>
      execFileSync(
        'python3',
        ['-c', 'import os; print(*[(n, os.getxattr("sub", n)) for n in sorted(os.listxattr("sub"))])'],
        {
          cwd: workspace,
          encoding: 'utf8',
        },
      ).trim();
    const code = 'os.setxattr("sub", "user.new", b"2"); os.removexattr("sub", "user.old")';
    const { id = '', ...kept } = (await run(python(code), 'track')) ?? {};
    expect(kept).toMatchObject({ state: 'applied', mode: 1, created: 0, changed: 0 });
    expect(attributes()).toBe("('user.new', b'2')");
    expect(await store.undo({ id })).toMatchObject({ state: 'held', conflicts: [] });
    expect(attributes()).toBe("('user.old', b'1')");
  });

  it('applies, undoes and discards changes in folders whose paths are longer than the system accepts', async () => {
    const go = (make: string) => `for (1 .. 30) { my $name = "x" x 200; ${make} chdir $name or die }`;
    const write = (name: string) => `open my $file, ">>", "${name}" or die; print $file "1\\n"; close $file`;
    const first = await run(`perl -e '${go('mkdir $name;')} ${write('p')}'`, 'hold');
    const sizes = () =>
      execFileSync('find', [workspace, '-name', '[pq]', '-printf', '%f%s '], { encoding: 'utf8' });
    await store.apply({ id: first?.id ?? '' });
    expect(sizes()).toBe('p2 ');
    const { id = '' } = (await run(`perl -e '${go('')} ${write('p')}; ${write('q')}'`, 'hold')) ?? {};
    expect(sizes()).toBe('p2 ');
    expect(await store.apply({ id })).toMatchObject({ state: 'applied', changed: 1, created: 1 });
    expect(sizes().trim().split(' ').sort()).toEqual(['p4', 'q2']);
    expect(await store.undo({ id })).toMatchObject({ state: 'held', conflicts: [] });
    expect(sizes()).toBe('p2 ');
    const { changes } = await store.scan({ id }, 10);
    const file = changes.find(({ path }) => path.endsWith('/q'))?.path ?? '';
    expect(file.length).toBeGreaterThan(4_096);
    await store.discard({ id, paths: [file] });
    expect(await store.apply({ id })).toMatchObject({ changed: 1, created: 0 });
    await store.undo({ id });
    await store.discard({ id });
    await store.undo({ id: first?.id ?? '' });
    await store.discard({ id: first?.id ?? '' });
    expect(sizes()).toBe('');
    await store.close();
    for (const folder of ['entries', 'layers'])
      expect(readdirSync(join(base, 'state/changes', folder)), folder).toEqual([]);
  });

  it('holds tracked changes that cannot be applied, and says why', async () => {
    class FullDisk extends LayerHelper {
      override async call(...words: readonly (string | Buffer)[]) {
        if (words[0] === 'apply') throw new Error('No space left on device');
        return super.call(...words);
      }
    }
    const options = { stateDir: join(base, 'state'), instance: 'test', maxBytes: 1e9, maxAgeMs: 1e9 };
    const full = new ChangesStore({ ...options, maxFileBytes: 1e9 }, new FullDisk());
    const layer = full.open([workspace]);
    full.begin(layer, 'cmd_full');
    await runInLayer(layer, 'echo 1 >> a');
    const command = { id: 'cmd_full', text: 'echo', owner: 'me', mode: 'track' } as const;
    expect(await full.finish(layer, command)).toMatchObject({
      state: 'held',
      changed: 1,
      problem: expect.stringMatching(/so they are held. No space left/),
    });
    expect(await full.list('me')).toMatchObject([
      { id: 'cmd_full', command: 'echo', counts: { changed: 1 } },
    ]);
    await full.close();
    expect(await store.apply({ id: 'cmd_full' })).toMatchObject({ state: 'applied' });
  });

  it('creates a file again that another program has deleted, because that loses nothing', async () => {
    const { id = '' } = (await run('echo 1 >> a; rm b', 'hold')) ?? {};
    runDirectly(workspace, 'rm a b');
    expect(await store.apply({ id })).toMatchObject({ state: 'applied', conflicts: [] });
    expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n1\n');
    expect(await store.undo({ id })).toMatchObject({ state: 'held', conflicts: [] });
    expect(existsSync(join(workspace, 'a'))).toBe(false);
  });

  it('changes one name of a file that has several, and reports how many it had', async () => {
    runDirectly(workspace, 'ln b hard; ln b hard2');
    const done = await run('echo 1 >> b', 'track');
    expect(done?.changes).toMatchObject([{ kind: 'changed', path: 'b', links: 3 }]);
    expect(['b', 'hard'].map((name) => readFileSync(join(workspace, name), 'utf8'))).toEqual([
      'b\n1\n',
      'b\n',
    ]);
    await store.undo({ id: done?.id ?? '' });
    expect(statSync(join(workspace, 'b')).nlink).toBe(3);
  });

  it('leaves the old version to a program that has a file open, and shows watchers nothing before changes are applied', async () => {
    const file = openSync(join(workspace, 'a'), 'r');
    const seen: string[] = [];
    const watcher = watch(workspace, (_, name) => seen.push(name ?? ''));
    const { id = '' } = (await run('echo 1 > a; echo n > n', 'hold')) ?? {};
    await store.scan({ id }, 10);
    expect(seen).toEqual([]);
    await store.apply({ id });
    await expect.poll(() => seen).toEqual(expect.arrayContaining(['a', 'n']));
    watcher.close();
    expect([readFileSync(file, 'utf8'), readFileSync(join(workspace, 'a'), 'utf8')]).toEqual(['a\n', '1\n']);
    closeSync(file);
  });

  it('does not keep the flags of chattr, and applies nothing over a file that has one', async (test) => {
    needRoot(test);
    const flags = (name: string) =>
      execFileSync('lsattr', [join(workspace, name)], { encoding: 'utf8' }).slice(0, 16);
    test.skip(runDirectly(workspace, 'chattr +i b && chattr -i b') !== 0, 'the file system has no flags');
    await run('echo n > n; chattr +i n', 'track');
    expect(flags('n')).not.toContain('i');
    const { id = '' } = (await run('echo 1 > a; echo 1 > b', 'hold')) ?? {};
    runDirectly(workspace, 'chattr +i b');
    try {
      await expect(store.apply({ id, force: true })).rejects.toThrow('b: Operation not permitted');
      expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('a\n');
    } finally {
      runDirectly(workspace, 'chattr -i b');
    }
    expect(await store.apply({ id, force: true })).toMatchObject({ state: 'applied' });
  });

  it('removes changes that are older than its age', async () => {
    await run('echo 1 > a', 'hold');
    expect(await store.prune(Date.now() + 0.9e9)).toEqual([]);
    expect(await store.prune(Date.now() + 1.1e9)).toHaveLength(1);
    expect(await store.list()).toEqual([]);
  });

  it('removes the oldest changes beyond its quota, also while it runs, but not those on which others are based', async () => {
    const limits = { maxBytes: 10, maxAgeMs: 1e9, maxFileBytes: 1e9 };
    const small = new ChangesStore(
      { stateDir: join(base, 'state'), instance: 'test', ...limits },
      new LayerHelper(),
    );
    const change = async (id: string, script: string, onTopOf: readonly string[] = []) => {
      const layer = small.open([workspace], onTopOf);
      small.begin(layer, id);
      await runInLayer(layer, script);
      return small.finish(layer, { id, text: script, mode: 'hold' });
    };
    await change('cmd_one', 'echo 12345678 > one');
    await change('cmd_two', 'echo 12345678 > two');
    await change('cmd_three', 'echo 12345678 > three', ['cmd_two']);
    await small.close();
    expect((await small.list()).map(({ id }) => id)).toEqual(['cmd_two', 'cmd_three']);
  });
});

describe('a full disk', () => {
  it('fails while changes are applied: the workspace is as before, and they can be applied when there is space', async (test) => {
    needRoot(test);
    const mount = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,nr_inodes=64', 'tmpfs', mount]);
    try {
      const folder = join(mount, 'workspace');
      runDirectly(
        mount,
        'mkdir workspace; cd workspace; echo a > a; mkdir sub; for n in 1 2 3 4 5; do echo $n > sub/$n; done',
      );
      // Times of folders are not restored after an error.
      const before = describeTree(folder);
      const layer = store.open([folder]);
      store.begin(layer, 'cmd_full');
      await runInLayer(
        layer,
        'echo new > sub/1; rm sub/2; rm -r a; mkdir a; echo i > a/i; for n in 1 2 3 4; do echo n > new$n; done',
      );
      expect(await store.finish(layer, { id: 'cmd_full', text: '', mode: 'hold' })).toMatchObject({
        state: 'held',
      });
      // The folder that overlayfs needed is removed in the background.
      await store.close();
      // Applying creates files in the store, so inodes run out at one of its steps.
      runDirectly(mount, 'mkdir fill; n=0; while : > fill/$n; do n=$((n + 1)); done');
      for (let free = 0; ; free += 1) {
        const end = await store.apply({ id: 'cmd_full' }).then(
          ({ state }) => state,
          (error: Error) => error.message,
        );
        if (end === 'applied') {
          expect(free).toBeGreaterThan(1);
          break;
        }
        expect(end).toContain('No space left on device');
        expect(describeTree(folder), `with ${free} free inodes`).toEqual(before);
        expect((await store.list()).map(({ id, state }) => [id, state])).toEqual([['cmd_full', 'held']]);
        rmSync(join(mount, `fill/${free}`));
      }
      expect(readFileSync(join(folder, 'sub/1'), 'utf8')).toBe('new\n');
      const after = describeTree(folder);
      runDirectly(mount, 'n=100; while : > fill/$n; do n=$((n + 1)); done');
      await expect(store.undo({ id: 'cmd_full' })).rejects.toThrow('No space left on device');
      expect(describeTree(folder)).toEqual(after);
      rmSync(join(mount, 'fill'), { recursive: true });
      expect(await store.undo({ id: 'cmd_full' })).toMatchObject({ state: 'held', conflicts: [] });
      expect(describeTree(folder)).toEqual(before);
    } finally {
      execFileSync('umount', ['-l', mount]);
    }
  });

  it('leaves the undoing of a part to the next call, and applies nothing else', async (test) => {
    needRoot(test);
    const mount = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mount]);
    try {
      const folder = join(mount, 'workspace');
      runDirectly(mount, 'mkdir workspace fill; echo a > workspace/a; echo b > workspace/b');
      const layer = store.open([folder]);
      store.begin(layer, 'cmd_part');
      await runInLayer(layer, 'echo new > a; echo new > b');
      await store.finish(layer, { id: 'cmd_part', text: '', mode: 'hold' });
      await store.apply({ id: 'cmd_part', paths: [join(folder, 'a')] });
      runDirectly(mount, 'cat /dev/zero > fill/all');
      await expect(store.undo({ id: 'cmd_part' })).rejects.toThrow('No space left on device');
      expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('b\n');
      rmSync(join(mount, 'fill'), { recursive: true });
      await store.recover(async () => false);
      expect(await store.list()).toMatchObject([{ id: 'cmd_part', state: 'held' }]);
      expect(['a', 'b'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['a\n', 'b\n']);
    } finally {
      execFileSync('umount', ['-l', mount]);
    }
  });
});
