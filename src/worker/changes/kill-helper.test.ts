import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeTree, runDirectly, runInLayer } from '../../../tests/support/layered.ts';
import { needRoot } from '../../../tests/support/needs.ts';
import { isSoak } from '../../../tests/support/soak.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { ChangesStore } from './changes-store.ts';
import { findLayerHelper } from './helper-script.ts';
import { LayerHelper } from './layer-helper.ts';

const script = `echo more >> a; rm b; echo new > sub/new; chmod 700 sub/deep; rm -r gone; mkdir gone; echo h > gone/h
  ln -sf b link; mkdir -p x/y; echo z > x/y/z; rm -r dir; echo file > dir; ln sub/c sub/c2; rm file; mkdir file; echo i > file/i`;

const prepare = () => {
  const base = temporaryFolder();
  runDirectly(
    base,
    `mkdir -p workspace/sub/deep workspace/gone workspace/dir; cd workspace; echo a > a; echo b > b; echo c > sub/c
     echo d > sub/deep/d; echo g > gone/g; ln -s a link; echo d > dir/d; echo f > file`,
  );
  return base;
};

describe('a helper that is killed before one of its steps', () => {
  it('leaves the state before or after, when it is recovered, and nothing is lost', async () => {
    const base = prepare();
    const workspace = join(base, 'workspace');
    const before = describeTree(workspace);
    const options = {
      stateDir: join(base, 'state'),
      instance: 'test',
      maxBytes: 1e9,
      maxAgeMs: 1e9,
      maxFileBytes: 1e9,
    };
    const sound = new LayerHelper();
    const store = new ChangesStore(options, sound);
    const layer = store.open([workspace]);
    store.begin(layer, 'cmd_1');
    await runInLayer(layer, script);
    await store.finish(layer, { id: 'cmd_1', text: script, mode: 'hold' });
    const copy = join(base, 'copy');
    cpSync(workspace, copy, { recursive: true, verbatimSymlinks: true });
    runDirectly(copy, script);
    const after = describeTree(copy);

    const step = isSoak ? 1 : 7;
    const ends = { before: 0, after: 0, other: 0 };
    for (const way of ['apply', 'undo'] as const) {
      for (let at = 1; at < 400; at += step) {
        const [program = '', ...args] = findLayerHelper() ?? [];
        const mortal = new LayerHelper([program, ...args, String(at)]);
        const isDone = await new ChangesStore(options, mortal)[way]({ id: 'cmd_1' }).then(
          () => true,
          () => false,
        );
        await store.recover(async () => false);
        const tree = describeTree(workspace);
        const state = (await store.list())[0]?.state;
        const [done, undone] = way === 'apply' ? ([after, before] as const) : ([before, after] as const);
        const isSame = (one: readonly string[]) => JSON.stringify(one) === JSON.stringify(tree);
        const reached = (state === 'applied') === (way === 'apply');
        expect(isSame(reached ? done : undone), `${way} killed at step ${at}: ${tree.join('\n')}`).toBe(true);
        ends[reached ? 'after' : 'before'] += 1;
        await mortal.close();
        if (isDone) break;
        if (reached) await store[way === 'apply' ? 'undo' : 'apply']({ id: 'cmd_1' });
      }
    }
    expect(ends.after).toBeGreaterThan(5);
    await sound.close();
  }, 300_000);

  it.each(['apply', 'undo'] as const)(
    'is completed without following a symlink that has replaced a folder in the meantime (%s)',
    async (way) => {
      const base = temporaryFolder();
      runDirectly(base, 'mkdir -p workspace/sub outside; echo c > workspace/sub/c; echo o > outside/c');
      const [workspace, outside] = [join(base, 'workspace'), join(base, 'outside')];
      const limits = { maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 };
      const options = { stateDir: join(base, 'state'), instance: 'test', ...limits };
      const sound = new LayerHelper();
      const store = new ChangesStore(options, sound);
      const trees = { held: describeTree(workspace), applied: [] as readonly string[] };
      const beside = describeTree(outside, { times: true });
      const layer = store.open([workspace]);
      store.begin(layer, 'cmd_1');
      await runInLayer(layer, 'echo more >> sub/c; echo new > sub/new; mkdir x; echo y > x/y');
      await store.finish(layer, { id: 'cmd_1', text: '', mode: 'hold' });
      await store.apply({ id: 'cmd_1' });
      trees.applied = describeTree(workspace);
      if (way === 'apply') await store.undo({ id: 'cmd_1' });
      const [start, end, back] =
        way === 'apply' ? (['held', 'applied', 'undo'] as const) : (['applied', 'held', 'apply'] as const);
      const stateOf = async () => (await store.list())[0]?.state;
      for (let at = 1, isDone = false; !isDone; at += 1) {
        const [program = '', ...args] = findLayerHelper() ?? [];
        const mortal = new LayerHelper([program, ...args, String(at)]);
        isDone = await new ChangesStore(options, mortal)[way]({ id: 'cmd_1' }).then(
          () => true,
          () => false,
        );
        await mortal.close();
        runDirectly(workspace, 'mv sub other; ln -s ../outside sub');
        await store.recover(async () => false);
        expect(readlinkSync(join(workspace, 'sub')), `killed at step ${at}`).toBe('../outside');
        expect(describeTree(outside, { times: true })).toEqual(beside);
        runDirectly(workspace, 'rm sub; mv other sub');
        // The changes in `sub` were not moved, because it was a symlink.
        if ((await stateOf()) !== end) await store[way]({ id: 'cmd_1', force: true });
        expect(describeTree(workspace), `killed at step ${at}`).toEqual(trees[end]);
        for (let tries = 0; (await stateOf()) !== start; tries += 1) {
          expect(tries).toBeLessThan(3);
          await store[back]({ id: 'cmd_1', force: true });
        }
      }
      await sound.close();
    },
    120_000,
  );

  it('leaves the state before or after even if the disk is full, so that it moves files back', async (test) => {
    needRoot(test);
    const mount = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,nr_inodes=100', 'tmpfs', mount]);
    const limits = { maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 };
    const options = { stateDir: join(mount, 'state'), instance: 'test', ...limits };
    const sound = new LayerHelper();
    try {
      const workspace = join(mount, 'workspace');
      runDirectly(
        mount,
        'mkdir -p workspace/sub; cd workspace; for f in a b c sub/d sub/e; do echo $f > $f; done',
      );
      const before = describeTree(workspace);
      const store = new ChangesStore(options, sound);
      const layer = store.open([workspace]);
      store.begin(layer, 'cmd_1');
      await runInLayer(
        layer,
        'for f in a b sub/d; do echo new >> $f; done; rm c sub/e; mkdir c; echo c > c/c; echo n > n',
      );
      await store.finish(layer, { id: 'cmd_1', text: '', mode: 'hold' });
      await store.close();
      const fill = join(mount, 'fill');
      let killed = 0;
      for (let free = 1; free < 10; free += isSoak ? 1 : 4)
        for (let at = 3; at < 60; at += isSoak ? 1 : 5) {
          mkdirSync(fill);
          runDirectly(
            fill,
            `n=0; while : > $n; do n=$((n + 1)); done; for f in {1..${free}}; do rm $f; done`,
          );
          const [program = '', ...args] = findLayerHelper() ?? [];
          const mortal = new LayerHelper([program, ...args, String(at)]);
          const reason = await new ChangesStore(options, mortal).apply({ id: 'cmd_1' }).then(
            () => '',
            (error: Error) => error.message,
          );
          await mortal.close();
          if (reason.includes('has ended')) killed += 1;
          rmSync(fill, { recursive: true });
          await store.recover(async () => false);
          const [state, tree] = [(await store.list())[0]?.state, describeTree(workspace)];
          if (state === 'applied') await store.undo({ id: 'cmd_1' });
          else expect(tree, `${free} free, killed at step ${at}`).toEqual(before);
          expect(describeTree(workspace), `${free} free, undone after step ${at}`).toEqual(before);
          if (reason === '' || reason.includes('No space')) break;
        }
      expect(killed).toBeGreaterThan(3);
    } finally {
      await sound.close();
      execFileSync('umount', ['-l', mount]);
    }
  }, 300_000);
});
