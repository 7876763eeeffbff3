import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { presets } from '../../src/policy/presets.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { createPlace, runInProcess, survivors } from '../support/nacre.ts';

// Run from its sources, nacre has no guard for `exec`, and would say so.
const listed = { ALLOWED_COMMANDS: 'git,tail', NACRE_EXEC: 'off' };

describe('nacre check', () => {
  test('prints the verdict, the rule and every program with its position, and runs nothing', async () => {
    const place = createPlace(listed);
    const { code, stdout } = await runInProcess(['check', 'git log | tail -3'], place);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: [
        'allow: Every program is listed.',
        'rule: listed',
        'programs:',
        '  git (0-3, /usr/bin/git)',
        '  tail (10-14, /usr/bin/tail)',
        '',
      ].join('\n'),
    });
  });

  test('T6: names the program that is not allowed, its position and how to allow it', async () => {
    const place = createPlace(listed);
    const { code, stdout } = await runInProcess(['check', 'git log; touch made'], place);
    expect(code).toBe(126);
    expect(stdout).toContain('deny: touch is not allowed');
    expect(stdout).toContain('at 9-14: touch');
    expect(stdout).toContain('to allow it: Run nacre allow touch, or add touch to ALLOWED_COMMANDS.');
    expect(existsSync(join(place.cwd, 'made'))).toBe(false);
  });

  test('says if a rule holds the changes of a program, also of one that another program starts', async () => {
    const place = createPlace();
    const rules = join(place.cwd, 'rules.yaml');
    const rule = 'program: sed, args: [..., "-i*", ...], changes: hold, reason: Look first.';
    writeFileSync(
      rules,
      `policy:\n  - { verdict: allow, ${rule}, examples: { matches: ["sed -i s/a/b/ x"], spares: ["sed p x"] } }\n`,
    );
    const check = async (command: string) =>
      (await runInProcess(['check', '--config', rules, command], place)).stdout;
    expect(await check('find . -exec sed -e s/a/b/ -i.bak {} +')).toContain('changes: hold\n');
    expect(await check('sed s/a/b/ x')).not.toContain('changes:');
  });

  test('prints the same as JSON', async () => {
    const { code, stdout } = await runInProcess(['check', '--json', 'xargs rm'], createPlace(listed));
    expect(code).toBe(126);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'deny',
      rule: 'not_listed',
      program: 'xargs',
      programs: [{ name: 'xargs' }, { name: 'rm', via: 'xargs' }],
    });
  });

  test('P8: danger is refused even if every program is allowed, with the words blocked and dangerous', async () => {
    const { code, stdout } = await runInProcess(['check', 'rm -rf /'], createPlace());
    expect(code).toBe(126);
    expect(stdout).toMatch(/deny: rm is blocked as dangerous/);
  });

  test('scores a file of labelled commands, and lists the wrong verdicts', async () => {
    const place = createPlace();
    const cases = [
      { id: 'a', command: 'ls; touch x', allow: ['ls'], expect: 'deny' },
      { id: 'b', command: 'ls', allow: ['ls'], expect: 'deny' },
      { id: 'c', command: 'rm -rf /', allow: '*', expect: 'allow' },
    ];
    const file = join(place.cwd, 'cases.jsonl');
    writeFileSync(file, cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const text = await runInProcess(['check', '--file', file], place);
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/"id":"b"[\s\S]*"id":"c"[\s\S]*\n3 cases, 1 false allows, 1 false denies\n$/);
    const json = await runInProcess(['check', '--file', file, '--json'], place);
    expect(JSON.parse(json.stdout)).toMatchObject({ cases: 3, false_allows: 1, false_denies: 1 });
  });

  test('P10: the sample of labelled commands has no false allow or deny', async () => {
    const { code, stdout } = await runInProcess(
      ['check', '--file', 'tests/policy/sample.jsonl'],
      createPlace(),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '60 cases, 0 false allows, 0 false denies\n' });
  });

  test.each([
    ['no command', ['check'], 'expects one quoted command'],
    ['several arguments', ['check', 'ls', '-l'], 'expects one quoted command'],
    ['a flag after the command', ['check', 'ls', '--json'], 'expects one quoted command'],
    ['an empty command', ['check', ''], 'command must not be empty'],
    ['a missing file', ['check', '--file', '/no/such/file'], '/no/such/file cannot be read'],
    [
      'a file of another kind',
      ['check', '--file', 'package.json'],
      'package.json:1 is not a labelled command',
    ],
    ['a missing directory', ['check', '--cwd', '/no/such', 'ls'], 'does not exist'],
  ])('reports %s with a clear error', async (_what, argv, words) => {
    const text = await runInProcess(argv, createPlace());
    expect(text).toMatchObject({ code: 125, stderr: expect.stringContaining(words) });
    if (words.includes('one quoted')) expect(text.stderr).toContain('flags go before the command');
    const json = await runInProcess([argv[0] ?? '', '--json', ...argv.slice(1)], createPlace());
    expect(JSON.parse(json.stdout).error.message).toContain(words);
  });
});

describe('policy rules', () => {
  const rule = (verdict: string, matches = 'git push --force') => `policy:
  - verdict: ${verdict}
    program: git
    args: [push, ..., --force, ...]
    reason: History is not rewritten.
    examples: { matches: ["${matches}"], spares: ["git push"] }
`;
  const withFile = (name: string, text: string, env = {}) => {
    const place = createPlace(env);
    writeFileSync(join(place.cwd, name), text);
    return place;
  };

  test('match decoded arguments anywhere in a command, and show their reason', async () => {
    const place = withFile('nacre.yaml', rule('deny'));
    const denied = await runInProcess(['check', `git 'push' origin --fo"rce" main`], place);
    expect(denied.stdout).toContain('deny: git is not allowed here: History is not rewritten.');
    expect((await runInProcess(['check', 'git push origin main'], place)).code).toBe(0);
  });

  test("E8: that allow count in the user's file, but not in a project file", async () => {
    const env = { ALLOWED_COMMANDS: 'ls' };
    const project = withFile('nacre.yaml', rule('allow'), env);
    expect((await runInProcess(['check', 'git push --force'], project)).code).toBe(126);
    const named = withFile('mine.yaml', rule('allow'), env);
    const flags = ['--config', join(named.cwd, 'mine.yaml')];
    expect((await runInProcess(['check', ...flags, 'git push --force'], named)).code).toBe(0);
    expect((await runInProcess(['check', ...flags, 'git pull'], named)).code).toBe(126);
  });

  test.each([
    ['an example that does not match', rule('deny', 'git pull'), 'does not match its example: git pull'],
    ['a verdict that does not exist', rule('maybe'), 'policy, entry 1 verdict'],
    [
      'a rule without examples',
      'policy: [{ verdict: deny, program: git, reason: no. }]\n',
      'policy, entry 1: examples is missing.',
    ],
    ['a value that is not a list', 'policy: all\n', 'policy cannot be "all"'],
  ])('abort the start if there is %s', async (_what, text, words) => {
    const { code, stderr } = await runInProcess(['run', 'true'], withFile('nacre.yaml', text));
    expect(code).toBe(125);
    expect(stderr).toContain(words);
  });

  test('P11: confirm requires approval for commands that are not generally safe, and nacre run cannot ask for it', async () => {
    const env = { NACRE_CONFIRM: 'unlisted' };
    const refused = await runInProcess(['run', 'touch made'], createPlace(env));
    expect(refused.code).toBe(126);
    expect(refused.stderr).toContain('touch needs approval');
    expect((await runInProcess(['run', 'echo free'], createPlace(env))).stdout).toBe('free\n');
  });
});

const verdicts = {
  'read-only': {
    'grep -rn TODO src | sort | uniq -c | head': 'allow',
    'ls nowhere 2>/dev/null; echo x >&2': 'allow',
    'echo x > file': 'deny',
    'cat a >> "$HOME/$x"': 'deny',
    'sort -o a a': 'deny',
    'find . -delete': 'deny',
    'git log': 'deny',
  },
  git: { 'git commit -m "drop rm" && git log > log.txt': 'allow', 'rm file': 'deny' },
  'dev-node': {
    'npm ci && npx tsc --noEmit && node --test | tee log': 'allow',
    'cargo build': 'deny',
    'npx eslint . && ./node_modules/.bin/vitest run; kill %1; command -v node': 'allow',
  },
  'dev-python': {
    'python3 -m pytest && pip install -r requirements.txt': 'allow',
    'npm test': 'deny',
  },
  'dev-go': { 'go vet ./... && gofmt -l .': 'allow', 'npm test': 'deny' },
  'dev-rust': { 'cargo clippy -- -D warnings': 'allow', 'npm test': 'deny' },
  dev: { 'npm test && cargo test && go test ./... && .venv/bin/pytest': 'allow', 'docker ps': 'deny' },
  full: { 'curl https://example.com | sh': 'allow', 'rm -rf /': 'deny' },
};

describe('P12: nacre check --preset', () => {
  let place = createPlace();
  const nacre = (...argv: string[]) => runInProcess(argv, place);
  const verdict = async (preset: string, command: string, ...flags: string[]) =>
    JSON.parse((await nacre('check', '--json', '--preset', preset, ...flags, command)).stdout).verdict;

  afterEach(async () => {
    expect(await survivors(place.mark)).toEqual([]);
    place = createPlace();
  });

  test('shows the list of a preset as text and as JSON', async () => {
    const { code, stdout } = await nacre('check', '--preset', 'read-only');
    expect(code).toBe(0);
    expect(stdout).toBe(
      `preset read-only: ${presets['read-only'].allowedCommands.join(', ')}; no file may be written\n`,
    );
    const { preset, allowed } = JSON.parse((await nacre('check', '--json', '--preset', 'git')).stdout);
    expect([preset, allowed]).toEqual(['git', presets.git.allowedCommands]);
  });

  test('names the preset and its programs in a refusal', async () => {
    const { code, stdout } = await nacre('check', '--preset', 'git', 'npm test');
    expect(code).toBe(126);
    expect(stdout).toContain('deny: npm is not allowed, because it is not in the preset git.');
    expect(stdout).toContain(`preset git: ${presets.git.allowedCommands.join(', ')}\n`);
    expect(stdout).toContain('to allow it: Run nacre allow npm, or add npm to ALLOWED_COMMANDS.');
  });

  test.each(Object.entries(verdicts))('%s allows and denies these commands', async (preset, expected) => {
    const { engine, ownRules, close } = await createTestDeps(['--preset', preset], place);
    const decided = await Promise.all(
      Object.keys(expected).map(async (script) => {
        const { decision } = await (await engine()).check({ command: { kind: 'shell', script } }, ownRules);
        return [script, decision.verdict];
      }),
    );
    expect(Object.fromEntries(decided)).toEqual(expected);
    await close();
  });

  test('adds programs from the same source, but not from a lower one', async () => {
    expect(await verdict('git', 'docker ps', '--allow', 'docker')).toBe('allow');
    place = createPlace({ ALLOWED_COMMANDS: 'docker' });
    expect(await verdict('git', 'docker ps')).toBe('deny');
  });

  test('an unknown preset aborts the start, and the error lists the presets', async () => {
    const { code, stderr } = await nacre('run', '--preset', 'everything', 'touch ran');
    expect(code).toBe(125);
    expect(stderr).toContain(
      'expected one of none, read-only, git, dev-node, dev-python, dev-go, dev-rust, dev, full',
    );
    expect(existsSync(join(place.cwd, 'ran'))).toBe(false);
  });
});

describe('P4: file_writes: none', () => {
  test('refuses commands that visibly write a file, and nothing is written', async () => {
    const place = createPlace();
    const { code, stderr } = await runInProcess(['run', '--file-writes', 'none', 'echo x > made'], place);
    expect(code).toBe(126);
    expect(stderr).toContain('Writing made is not allowed, because commands may not write files here.');
    expect(existsSync(join(place.cwd, 'made'))).toBe(false);
  });
});
