import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runDirectly, runInLayer } from '../../../tests/support/layered.ts';
import { needLevel } from '../../../tests/support/needs.ts';
import { isSoak } from '../../../tests/support/soak.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { ChangesStore } from './changes-store.ts';
import { findLayerHelper } from './helper-script.ts';
import { LayerHelper } from './layer-helper.ts';

beforeEach((test) => needLevel(test, 'namespace'));

// An editor moves a new version into place, or writes to the file.
const move = (name: string) => `echo other > ../version; mv -f ../version ${name}`;
const write = (name: string) => `echo other >> ${name}`;

/** The two writers of each race: a command, and another program that uses the same path. */
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
const commands = cases.map(({ command }) => command).join('; ');
const others = cases.map(({ other }) => other).join('; ');

async function hold() {
  const base = temporaryFolder();
  runDirectly(
    base,
    'mkdir -p workspace/sub workspace/gone; cd workspace; for f in changed written deleted deleted2 file sub/g gone/g; do echo $f > $f; done',
  );
  const workspace = join(base, 'workspace');
  const limits = { maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 };
  const options = { stateDir: join(base, 'state'), instance: 'test', ...limits };
  const helper = new LayerHelper();
  const store = new ChangesStore(options, helper);
  const layer = store.open([workspace]);
  store.begin(layer, 'cmd_1');
  await runInLayer(layer, commands);
  await store.finish(layer, { id: 'cmd_1', text: commands, mode: 'hold' });
  /** Applies or undoes the changes with a helper that runs what the other program does before one of its steps. */
  const race = async (way: 'apply' | 'undo', at: number) => {
    const [program = '', ...args] = findLayerHelper() ?? [];
    const script = `cd '${workspace}' && { ${others}\n} > ../raced 2>&1`;
    const racing = new LayerHelper([program, ...args, String(at), script]);
    const { conflicts } = await new ChangesStore(options, racing)[way]({ id: 'cmd_1' });
    await racing.close();
    await helper.close();
    const has = (path: string) => readFileSync(join(workspace, path), 'utf8').includes('other\n');
    const isRaced = readdirSync(base).includes('raced');
    return { conflicts, isRaced, lost: cases.filter(({ path }) => isRaced && !has(path)) };
  };
  return { store, race };
}

describe('what another program does while changes are moved', () => {
  it.each(['apply', 'undo'] as const)(
    'is never replaced, at whichever step it happens, and is told (%s)',
    async (way) => {
      for (let at = 1, isRaced = true; isRaced; at += isSoak ? 1 : 4) {
        const { store, race } = await hold();
        if (way === 'undo') await store.apply({ id: 'cmd_1' });
        const { conflicts, lost, ...done } = await race(way, at);
        expect(lost, `at step ${at}`).toEqual([]);
        if (at === 1) expect(conflicts).toHaveLength(cases.length);
        // Both versions stay: the one of the command can still be applied or undone.
        const state = (await store.list())[0]?.state;
        if (conflicts.length > 0)
          expect(state, `at step ${at}`).not.toBe(way === 'apply' ? 'applied' : 'held');
        isRaced = done.isRaced;
      }
    },
    120_000,
  );
});
