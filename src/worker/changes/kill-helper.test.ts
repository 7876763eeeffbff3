import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeTree, runDirectly, runInLayer } from '../../../tests/support/layered.ts';
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
});
