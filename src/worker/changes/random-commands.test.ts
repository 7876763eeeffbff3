import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeTree,
  findOverlayAttributes,
  runDirectly,
  runInLayer,
} from '../../../tests/support/layered.ts';
import { soakCount } from '../../../tests/support/soak.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { ChangesStore } from './changes-store.ts';
import { LayerHelper } from './layer-helper.ts';

const name = fc.constantFrom('a', 'b', 'c', 'A', 'd', 'd/e', 'd/f', 'd/g/h', 'x', 'x/y', 'sp ace', 'd/-n');
const number = fc.integer({ min: 0, max: 999 });
const step = fc.oneof(
  fc.tuple(name, number).map(([one, text]) => `echo ${text} >> "./${one}"`),
  fc.tuple(name, number).map(([one, text]) => `echo ${text} > "./${one}"`),
  name.map((one) => `rm -f "./${one}"`),
  name.map((one) => `rm -rf "./${one}"`),
  name.map((one) => `mkdir -p "./${one}"`),
  name.map((one) => `rm -rf "./${one}"; mkdir "./${one}"; echo in > "./${one}/in"`),
  fc.tuple(name, name).map(([one, other]) => `mv -f "./${one}" "./${other}"`),
  fc.tuple(name, name).map(([one, other]) => `mv -fT "./${one}" "./${other}"`),
  fc.tuple(name, name).map(([one, other]) => `[ -f "./${one}" ] && cp -p "./${one}" "./${other}"`),
  fc.tuple(name, name).map(([one, other]) => `ln -sfn "${one}" "./${other}"`),
  fc.tuple(name, name).map(([one, other]) => `ln "./${one}" "./${other}"`),
  fc
    .tuple(name, fc.constantFrom('600', '755', '444', '1777', '700', '555', '500'))
    .map(([one, mode]) => `chmod ${mode} "./${one}"`),
  fc.tuple(name, number).map(([one, day]) => `touch -hd "2020-01-01 +${day} days" "./${one}"`),
  name.map((one) => `sed -i s/1/one/ "./${one}"`),
  fc.tuple(name, number).map(([one, size]) => `truncate -s ${size * 100} "./${one}"`),
  fc.constantFrom(
    'mkfifo pipe',
    'rm -f pipe',
    'chmod 750 .',
    'chmod 755 .',
    'rm -rf ./*',
    'cp -rp d z; rm -rf d; mv z d',
  ),
);
const scripts = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join('; '));
// Only one name of a file with several is changed in a layer, and all of them directly.
const breakLinks = `find . ! -type d -links +1 | while read -r f; do chmod u+wx "$(dirname "$f")"; cp -aT "$f" "$f.copy" && mv -fT "$f.copy" "$f"; done`;

// rename() of a folder that existed before fails with EXDEV in a layer. `mv` then copies the folder, and a file in it that has
// another name outside of the folder is no hard link any more.
const mayMoveLinks = (script: string) => /\bln "/.test(script) && /\bmv /.test(script);

// A layer does not show that files have come and gone in a folder, which would change its time.
const withoutNewTime = (wanted: readonly string[]) => (line: string, index: number) =>
  / 4\d{4} {2}now$/.test(wanted[index] ?? '') ? line.replace(/ {2}(?:now|\d+)$/, '') : line;

describe('random commands', () => {
  it('change nothing while they are held, and exactly what they would change themselves when they are applied', async () => {
    const base = temporaryFolder();
    const [workspace, copy] = [join(base, 'workspace'), join(base, 'copy')];
    runDirectly(
      base,
      'mkdir -p workspace/d/g; cd workspace; echo 1 > a; echo 2 > d/e; ln -s a x; echo 3 > d/g/h',
    );
    const helper = new LayerHelper();
    const limits = { maxBytes: 1e9, maxAgeMs: 1e9, maxFileBytes: 1e9 };
    const store = new ChangesStore({ stateDir: join(base, 'state'), instance: 'test', ...limits }, helper);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const id = `cmd_${count++}`;
        runDirectly(
          base,
          `chmod -R u+rwx copy; rm -rf copy; cd workspace && { ${breakLinks}; }; cd ..; cp -a workspace copy`,
        );
        const before = describeTree(workspace, { times: true });
        // The clock of the file system has a granularity of some milliseconds.
        const now = Date.now() - 20;
        const layer = store.open([workspace]);
        store.begin(layer, id);
        await runInLayer(layer, script);
        const held = await store.finish(layer, { id, text: script, mode: 'hold' });
        expect(describeTree(workspace, { times: true }), script).toEqual(before);
        runDirectly(copy, script);
        if (held)
          expect(await store.apply({ id }), script).toMatchObject({ state: 'applied', conflicts: [] });
        const shown = { times: true, links: !mayMoveLinks(script), now };
        const [wanted, found] = [describeTree(copy, shown), describeTree(workspace, shown)];
        expect(found.map(withoutNewTime(wanted)), script).toEqual(wanted.map(withoutNewTime(wanted)));
        if (held && count % 3 === 0) {
          expect(await store.undo({ id }), script).toMatchObject({ state: 'held', conflicts: [] });
          expect(describeTree(workspace, { times: true }), script).toEqual(before);
        }
        if (held) await store.discard({ id });
      }),
      { numRuns: soakCount(2_000, 100), endOnFailure: true },
    );
    expect(findOverlayAttributes(workspace)).toEqual([]);
    await helper.close();
    rmSync(base, { recursive: true, force: true });
  }, 3_600_000);
});
