import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestEngine, type TestEngine, type TestEngineOptions } from '../../../tests/support/engine.ts';
import { describeTree } from '../../../tests/support/layered.ts';
import { needLevel, needRoot } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { waysAroundLayer } from '../../../tests/support/ways-around-layer.ts';
import type { PolicyRule, Rules } from '../../contract/decision.ts';
import { createDeferred } from '../../support/timing.ts';
import { createApprovalInbox } from '../approval/approval-inbox.ts';

const open: TestEngine[] = [];
let workspace = '';

beforeEach(async (test) => {
  await needLevel(test, 'namespace');
  workspace = join(temporaryFolder(), 'workspace');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a'), 'a\n');
  writeFileSync(join(workspace, 'b'), 'b\n');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((here) => here.close()));
});

const create = (worker: TestEngineOptions['worker'] = {}) => {
  const here = createTestEngine({ worker: { highestLevel: 'namespace', cwd: workspace, ...worker } });
  open.push(here);
  return here;
};
const read = (name: string) => readFileSync(join(workspace, name), 'utf8');
const anything: Rules = { allow: { kind: 'all' }, allowSetting: 'ALLOWED_COMMANDS', danger: 'off' };
const context = { caller: { door: 'cli', client: 'test' } } as const;

describe('changes', () => {
  it('are applied at the end of a tracked command, and can be undone', async () => {
    const here = create({ changes: 'track' });
    const { changes } = await here.run('echo more >> a; rm b; echo new > c');
    expect(changes).toMatchObject({ state: 'applied', created: 1, changed: 1, deleted: 1, conflicts: [] });
    expect([read('a'), read('c'), existsSync(join(workspace, 'b'))]).toEqual(['a\nmore\n', 'new\n', false]);
    await here.engine.changes.undo({ id: changes?.id ?? '' }, context);
    expect([read('a'), read('b'), existsSync(join(workspace, 'c'))]).toEqual(['a\n', 'b\n', false]);
    const kinds = here
      .records()
      .map(({ kind, action, changes: recorded }) => [kind, action, recorded !== undefined]);
    expect(kinds).toContainEqual(['changes', 'undo', false]);
    expect(kinds).toContainEqual(['finished', undefined, true]);
  });

  it('are not part of the reply to a command that changes nothing', async () => {
    const here = create({ changes: 'track' });
    expect((await here.run('cat a')).changes).toBeUndefined();
    expect(await here.engine.changes.list(context)).toEqual([]);
  });

  it.each(['off', 'workspace'] as const)(
    'of a held command reach no file, by no way (sandbox %s)',
    async (sandbox) => {
      const here = create({ sandbox });
      const before = describeTree(workspace, { times: true });
      await here.run(waysAroundLayer(workspace), { changes: 'hold' }, { rules: anything });
      expect(describeTree(workspace, { times: true })).toEqual(before);
    },
  );

  it('of a held command reach no file if the fork server has mounted the layer', async () => {
    const here = create();
    const before = describeTree(workspace, { times: true });
    const init = `read -rd "" init </proc/1/cmdline; echo "\${init##*/}"`;
    const run = (script: string) => here.run(script, { changes: 'hold' }, { rules: anything });
    for (let count = 0; count < 3; count += 1) await run('true');
    const { stdout } = await run(`${init}; ${waysAroundLayer(workspace)}`);
    expect(stdout).toMatch(/^perl/);
    expect(describeTree(workspace, { times: true })).toEqual(before);
  });

  it('are complete when they are applied: a process that the command left running can no longer write', async () => {
    const here = create({ changes: 'track' });
    const { changes } = await here.run(
      '(while :; do echo x >> a; done) & while [ $(wc -l < a) -lt 5 ]; do :; done',
    );
    expect(changes).toMatchObject({ state: 'applied', changed: 1 });
    const applied = read('a');
    await here.run('sleep 0.1');
    expect(read('a')).toBe(applied);
    expect(await here.engine.changes.undo({ id: changes?.id ?? '' }, context)).toMatchObject({
      conflicts: [],
    });
    expect(read('a')).toBe('a\n');
  });

  it('of other programs since the command began are not replaced', async () => {
    const here = create({ changes: 'track' });
    const begun = createDeferred<void>();
    const script = 'echo mine >> a; echo mine >> b; echo begun; read x < /dev/zero & sleep 1';
    const running = here.run(script, {}, { onOutput: async () => begun.resolve() });
    await begun.promise;
    appendFileSync(join(workspace, 'a'), 'yours\n');
    const { changes } = await running;
    expect(changes).toMatchObject({ state: 'partial', conflicts: ['a'] });
    expect([read('a'), read('b')]).toEqual(['a\nyours\n', 'b\nmine\n']);
  });

  it('of two commands at once are applied in the order of their ends, and conflicts are reported by path', async () => {
    const here = create({ changes: 'track' });
    const go = join(workspace, '..', 'go');
    const begun = createDeferred<void>();
    const waiting = `echo 1 >> a; rm b; echo 1 > first; echo begun; until [ -e '${go}' ]; do sleep 0.02; done`;
    const running = here.run(waiting, {}, { onOutput: async () => begun.resolve() });
    await begun.promise;
    const second = await here.run('echo 2 >> a; echo 2 > second; cat b; ls');
    expect([second.stdout, second.changes?.conflicts]).toEqual(['b\na\nb\nsecond\n', []]);
    writeFileSync(go, '');
    const { changes } = await running;
    expect(changes).toMatchObject({ state: 'partial', conflicts: ['a'], created: 1, changed: 1, deleted: 1 });
    expect([read('a'), read('first'), read('second')]).toEqual(['a\n2\n', '1\n', '2\n']);
    expect(existsSync(join(workspace, 'b'))).toBe(false);
    for (const id of [changes?.id, second.changes?.id])
      expect(await here.engine.changes.undo({ id: id ?? '' }, context)).toMatchObject({ conflicts: [] });
    expect([read('a'), read('b'), readdirSync(workspace)]).toEqual(['a\n', 'b\n', ['a', 'b']]);
  });

  it('are kept next to a workspace on another mount (tmpfs), where commands cannot see them', async (test) => {
    needRoot(test);
    const mount = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', mount]);
    const cwd = join(mount, 'workspace');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'a'), 'secret\n');
    const here = create({ changes: 'track', cwd });
    try {
      const { changes } = await here.run('echo new > a', {}, { rules: anything });
      expect(changes).toMatchObject({ state: 'applied', changed: 1 });
      const [store = ''] = readdirSync(mount).filter((name) => name.startsWith('.nacre-changes-'));
      expect(readdirSync(join(mount, store, 'entries'))).toEqual([changes?.id]);
      for (const mode of ['direct', 'hold'] as const) {
        const looked = await here.run(
          'grep -r secret ..; ls ../.nacre*/*',
          { changes: mode },
          { rules: anything },
        );
        expect(looked.stdout).toBe('');
      }
      const named = here.run(
        `echo x > ${join(mount, store)}/x`,
        {},
        { rules: { ...anything, danger: 'block' } },
      );
      await expect(named).rejects.toMatchObject({ code: 'policy_denied' });
      await here.engine.changes.undo({ id: changes?.id ?? '' }, context);
      expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('secret\n');
    } finally {
      await here.close();
      open.splice(open.indexOf(here), 1);
      execFileSync('umount', [mount]);
    }
  });

  it('of a persistent shell are tracked for each command, while its state persists', async () => {
    const here = create({ changes: 'track' });
    const first = await here.run('x=5; mkdir d; cd d; f() { echo "f $x"; }', { session: 's' });
    expect(first.changes).toMatchObject({ state: 'applied', created: 1 });
    const second = await here.run('f > out; pwd', { session: 's' });
    expect(second.stdout).toBe(`${workspace}/d\n`);
    expect(second.changes).toMatchObject({ state: 'applied', created: 1 });
    expect(read('d/out')).toBe('f 5\n');
  });

  it('are visible to later held commands of the same owner, but not to others', async () => {
    const here = create();
    await here.run('echo one >> a', { changes: 'hold' }, { owner: 'me' });
    expect((await here.run('cat a; echo two >> a', { changes: 'hold' }, { owner: 'me' })).stdout).toBe(
      'a\none\n',
    );
    expect((await here.run('cat a', { changes: 'hold' }, { owner: 'other' })).stdout).toBe('a\n');
    const mine = await here.engine.changes.list({ ...context, owner: 'me' });
    expect(mine.map(({ state }) => state)).toEqual(['held', 'held']);
    expect(await here.engine.changes.list({ ...context, owner: 'other' })).toEqual([]);
    for (const { id } of mine) await here.engine.changes.apply({ id }, { ...context, owner: 'me' });
    expect(read('a')).toBe('a\none\ntwo\n');
  });

  it('are not visible to later held commands once they were undone', async () => {
    const here = create({ changes: 'track' });
    const { changes } = await here.run('echo one >> a');
    await here.engine.changes.undo({ id: changes?.id ?? '' }, context);
    const { stdout, warnings } = await here.run('cat a', { changes: 'hold' });
    expect([stdout, warnings]).toEqual(['a\n', []]);
  });

  it('of a command that lasts are made directly by track, and held by hold', async () => {
    const here = create({ changes: 'track' });
    const id = await here.start('echo now > c; sleep 30');
    await expect.poll(() => existsSync(join(workspace, 'c')), { timeout: 10_000 }).toBe(true);
    await here.engine.stop(id, { signal: 'SIGKILL', graceMs: 0 }, { ...context, owner: 'tester' });
  });

  it('of a file that is too large end the command, and nothing is applied', async () => {
    const here = create({ changes: 'track', changesFileBytes: 1_048_576 });
    writeFileSync(join(workspace, 'large'), '');
    truncateSync(join(workspace, 'large'), 4_000_000);
    const outcome = await here.run('echo ok > c; echo x >> large; echo after > d');
    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.changes).toMatchObject({ state: 'held' });
    expect(existsSync(join(workspace, 'c'))).toBe(false);
    expect(outcome.warnings.join()).toContain('changes_file_bytes');
  });

  it.each([
    ['refuse', false],
    ['direct', true],
  ] as const)(
    'of a file that is too large are made directly by the same command, if changes_large is %s',
    async (changesLarge, isDirect) => {
      const here = create({ changes: 'track', changesFileBytes: 1_048_576, changesLarge });
      writeFileSync(join(workspace, 'large'), '');
      truncateSync(join(workspace, 'large'), 4_000_000);
      await here.run('echo x >> large');
      const held = await here.run('echo x >> large', { changes: 'hold' });
      expect([held.signal, statSync(join(workspace, 'large')).size]).toEqual(['SIGXFSZ', 4_000_000]);
      const again = await here.run('echo x >> large');
      expect([again.exitCode === 0, statSync(join(workspace, 'large')).size]).toEqual([
        isDirect,
        isDirect ? 4_000_002 : 4_000_000,
      ]);
      expect(again.warnings.join()).toContain(isDirect ? 'cannot be undone' : 'changes_large: direct');
    },
  );

  it('of a large file that a program of a script could not write are explained', async () => {
    const here = create({ changes: 'track', changesFileBytes: 1_048_576 });
    const outcome = await here.run('echo ok > c; (trap "" XFSZ; head -c 2000000 /dev/zero > large); true');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.warnings.join()).toContain('no file larger than changes_file_bytes');
  });

  it.for([
    ['has another mount inside', 'is a mount inside of the workspace', (mount: string) => join(mount, '..')],
    ['is a mount itself', 'there is no writable folder outside of', (mount: string) => mount],
  ] as const)(
    'cannot be held if the workspace %s, and the error says so',
    async ([, message, choose], test) => {
      needRoot(test);
      const mount = join(workspace, 'in ner');
      mkdirSync(mount);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mount]);
      try {
        const here = create({ changes: 'track', cwd: choose(mount) });
        await expect(here.run('echo 1 > a')).rejects.toMatchObject({
          code: 'isolation_unavailable',
          message: expect.stringContaining(message),
        });
        expect(await here.engine.changes.fault()).toContain(message);
        expect(existsSync(join(mount, 'a'))).toBe(false);
      } finally {
        await Promise.all(open.splice(0).map((here) => here.close()));
        execFileSync('umount', [mount]);
      }
      expect(read('a')).toBe('a\n');
    },
  );

  it('cannot be held without namespaces, and the error says so', async () => {
    const here = create({ highestLevel: 'group' });
    await expect(here.run('echo 1 > a', { changes: 'hold' })).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining('Changes cannot be tracked or held here'),
    });
    expect(read('a')).toBe('a\n');
  });

  it('of a git commit are undone with everything', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', workspace, '-c', 'user.name=n', '-c', 'user.email=e', ...args]).toString();
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'first');
    const here = create({ changes: 'track' });
    const { changes } = await here.run(
      'echo 2 >> a; git -c user.name=n -c user.email=e commit -qam second; git log --oneline | wc -l',
    );
    expect(git('log', '--format=%s')).toBe('second\nfirst\n');
    await here.engine.changes.undo({ id: changes?.id ?? '' }, context);
    expect(git('log', '--format=%s')).toBe('first\n');
    expect(git('status', '--short')).toBe('');
  });

  describe('with a rule', () => {
    const rule: PolicyRule = {
      verdict: 'ask',
      program: 'rm',
      args: ['...'],
      changes: 'hold',
      reason: 'Look first.',
    };
    const rules: Rules = {
      allow: { kind: 'all' },
      allowSetting: 'ALLOWED_COMMANDS',
      danger: 'block',
      policy: [rule],
    };

    it.each([
      ['approved', false],
      ['declined', true],
    ] as const)('the user sees what the command did before it is applied (%s)', async (kind, remains) => {
      const here = create();
      const asked: unknown[] = [];
      const askUser = async ({ changes }: { readonly changes?: unknown }) => {
        asked.push(changes);
        expect(existsSync(join(workspace, 'b'))).toBe(true);
        return { kind } as const;
      };
      const outcome = await here.run('rm b', {}, { rules, askUser });
      expect(asked).toEqual([expect.objectContaining({ deleted: 1, state: 'held' })]);
      expect(existsSync(join(workspace, 'b'))).toBe(remains);
      expect(outcome.changes?.state).toBe(remains ? undefined : 'applied');
    });

    it('changes no other file before the user has approved it, and its owner cannot apply what it did', async () => {
      const here = create();
      const outside = join(temporaryFolder(), 'outside');
      writeFileSync(outside, '');
      const call = { rules, owner: 'agent' };
      const outcome = await here.run(`rm -f b ${outside}`, {}, call);
      expect(existsSync(outside)).toBe(true);
      expect(outcome.changes).toMatchObject({ state: 'held', deleted: 1 });
      const id = outcome.changes?.id ?? '';
      const agent = { ...context, owner: 'agent' };
      await expect(here.engine.changes.apply({ id }, agent)).rejects.toMatchObject({
        code: 'approval_required',
      });
      expect(existsSync(join(workspace, 'b'))).toBe(true);
      await here.engine.changes.apply({ id }, context);
      expect(existsSync(join(workspace, 'b'))).toBe(false);
    });

    it.each([
      ['approved', false],
      ['declined', true],
    ] as const)(
      'the user sees what it did in the list of approvals, and answers later (%s)',
      async (kind, remains) => {
        const inbox = createApprovalInbox({
          deadlineMs: 60_000,
          open: async () => {},
          whyOff: async () => null,
          record: () => {},
        });
        const here = create();
        const first = await here.run('rm b', {}, { rules, askUser: inbox.ask });
        expect(first.warnings.join()).toContain('held until the user approves them');
        const [request] = (await inbox.list()).waiting;
        expect(request?.asked.changes).toMatchObject({ id: first.changes?.id, deleted: 1 });
        // The same command is another request, because it may have done something else.
        await here.run('rm b', {}, { rules, askUser: inbox.ask, owner: 'other' });
        expect((await inbox.list()).waiting).toHaveLength(2);
        inbox.answer(request?.id ?? '', kind, { by: 'user', digest: request?.digest });
        const left = async () => (await here.engine.changes.list(context)).map(({ state }) => state);
        const states = remains ? ['held'] : ['applied', 'held'];
        await expect.poll(left, { timeout: 10_000 }).toEqual(states);
        expect(existsSync(join(workspace, 'b'))).toBe(remains);
      },
    );

    it('changes stay held without an answer', async () => {
      const here = create();
      const outcome = await here.run('rm b', {}, { rules });
      expect(outcome.changes).toMatchObject({ state: 'held' });
      expect(existsSync(join(workspace, 'b'))).toBe(true);
    });
  });
});
