import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeTree, runDirectly, runInLayer } from '../../../tests/support/layered.ts';
import { needLevel } from '../../../tests/support/needs.ts';
import { isSoak } from '../../../tests/support/soak.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import type { NacreError } from '../../contract/failure.ts';
import { ChangesStore } from './changes-store.ts';
import { findLayerHelper } from './helper-script.ts';
import { LayerHelper } from './layer-helper.ts';

beforeEach((test) => needLevel(test, 'namespace'));

// An editor moves a new version into place, or writes to the file.
const move = (name: string) => `echo other > ../version; mv -f ../version ${name}`;
const write = (name: string) => `echo other >> ${name}`;

/** Races between a command and another program that writes to the same `path`. */
const cases = [
  { path: 'changed', command: 'echo 1 >> changed', other: move('changed') },
  { path: 'written', command: 'echo 1 >> written', other: write('written') },
  { path: 'deleted', command: 'rm deleted', other: move('deleted') },
  { path: 'deleted2', command: 'rm deleted2', other: write('deleted2') },
  { path: 'new', command: 'echo 1 > new', other: move('new') },
  { path: 'n/new', command: 'mkdir n; echo 1 > n/new', other: `mkdir -p n; ${move('n/new')}` },
  { path: 'file', command: 'rm file; mkdir file', other: `rmdir file; ${move('file')}` },
  { path: 'gone/g', command: 'rm -r gone', other: `mkdir -p gone; ${write('gone/g')}` },
  { path: 'sub/g', command: 'rm -r sub; echo 1 > sub', other: `rm -f sub; mkdir -p sub; ${write('sub/g')}` },
];
const files =
  'mkdir sub gone; for f in changed written deleted deleted2 file sub/g gone/g; do echo $f > $f; done';
const allCases = {
  before: files,
  command: cases.map(({ command }) => command).join('; '),
  other: cases.map(({ other }) => other).join('; '),
};

/** Runs a command and holds its changes; `race` then runs `other` while they are applied or undone. */
async function hold({ before, command, other }: typeof allCases) {
  const base = temporaryFolder();
  const workspace = join(base, 'workspace');
  mkdirSync(workspace);
  runDirectly(workspace, before);
  const limits = { maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 };
  const options = { stateDir: join(base, 'state'), instance: 'test', ...limits };
  const helper = new LayerHelper();
  const store = new ChangesStore(options, helper);
  const layer = store.open([workspace]);
  store.begin(layer, 'cmd_1');
  await runInLayer(layer, command);
  await store.finish(layer, { id: 'cmd_1', text: command, mode: 'hold' });
  /** Applies or undoes the changes with a helper that runs `other` before step `at`; `isRaced` is false if there is no such step. */
  const race = async (way: 'apply' | 'undo', at: number) => {
    const [program = '', ...args] = findLayerHelper() ?? [];
    const script = `cd '${workspace}' && { ${other}\n} > ../raced 2>&1`;
    const racing = new LayerHelper([program, ...args, String(at), script]);
    const { conflicts } = await new ChangesStore(options, racing)[way]({ id: 'cmd_1' });
    await racing.close();
    return { conflicts, isRaced: readdirSync(base).includes('raced') };
  };
  return { base, workspace, store, race, close: () => helper.close() };
}

describe('a file or folder that another program changes while changes are moved', () => {
  it.each(['apply', 'undo'] as const)(
    'is never replaced, and is reported as a conflict, at every step (%s)',
    async (way) => {
      for (let at = 1, isRaced = true; isRaced; at += isSoak ? 1 : 4) {
        const { workspace, store, race, close } = await hold(allCases);
        if (way === 'undo') await store.apply({ id: 'cmd_1' });
        const { conflicts, ...done } = await race(way, at);
        const isLost = (path: string) => !readFileSync(join(workspace, path), 'utf8').includes('other\n');
        const lost = cases.filter(({ path }) => done.isRaced && isLost(path));
        expect(lost, `at step ${at}`).toEqual([]);
        if (at === 1) expect(conflicts).toHaveLength(cases.length);
        // Both versions stay: the one of the command can still be applied or undone.
        const state = (await store.list())[0]?.state;
        if (conflicts.length > 0)
          expect(state, `at step ${at}`).not.toBe(way === 'apply' ? 'applied' : 'held');
        isRaced = done.isRaced;
        await close();
      }
    },
    120_000,
  );

  it.each(['apply', 'undo'] as const)(
    'is not replaced by the next apply or undo, even if it was changed just before the stamp (%s)',
    async (way) => {
      const next = way === 'apply' ? 'undo' : 'apply';
      for (let at = 1, isRaced = true; isRaced; at += 1) {
        const { base, workspace, store, race, close } = await hold({
          before: 'mkdir sub ../outside; echo c > sub/c; echo d > d; echo out > ../outside/c',
          command: 'echo more >> sub/c; echo new > sub/new; echo more >> d',
          other: `mv sub moved; ln -s ../outside sub; ${write('d')}`,
        });
        if (way === 'undo') await store.apply({ id: 'cmd_1' });
        const outside = describeTree(join(base, 'outside'), { times: true });
        isRaced = (await race(way, at)).isRaced;
        if (isRaced) {
          // If the race is at one of the first steps, every change is a conflict, so that `next` fails: it has nothing to do.
          await store[next]({ id: 'cmd_1' }).catch((error: NacreError) =>
            expect(error.code).toBe('invalid_request'),
          );
          expect(readlinkSync(join(workspace, 'sub')), `at step ${at}`).toBe('../outside');
          expect(readFileSync(join(workspace, 'd'), 'utf8'), `at step ${at}`).toMatch(/other\n$/);
        } else expect((await store[next]({ id: 'cmd_1' })).conflicts).toEqual([]);
        expect(describeTree(join(base, 'outside'), { times: true })).toEqual(outside);
        await close();
      }
    },
    120_000,
  );
});
