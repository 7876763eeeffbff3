import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import type { Command, CommandContext } from '../contract/command.ts';
import type { PolicyRule, Rules } from '../contract/decision.ts';
import type { Facts } from '../contract/facts.ts';
import { decide } from './decide.ts';
import { understand } from './understand.ts';

const facts: Facts = {
  cwd: { asked: '.', path: '/home/ann/project' },
  roots: [],
  home: '/home/ann',
  programs: {},
};

const rulesOf = (names: readonly string[] | '*', more: Partial<Rules> = {}): Rules => ({
  allow: names === '*' ? { kind: 'all' } : { kind: 'names', names },
  allowSetting: 'ALLOWED_COMMANDS',
  danger: 'block',
  ...more,
});

const shell = (script: string): Command => ({ kind: 'shell', script });

const judge = (
  script: string,
  names: readonly string[] | '*',
  more: Partial<Rules> = {},
  over: Partial<Facts> = {},
) => decide(understand(shell(script)), { ...facts, ...over }, rulesOf(names, more));

describe('refusals', () => {
  test('T5: without a list nothing is allowed, and the refusal says how to set one', () => {
    const decision = judge('pwd', [], { allow: { kind: 'none' } });
    expect(decision).toMatchObject({ verdict: 'deny', rule: 'not_listed', program: 'pwd' });
    expect(decision.reason).toMatch(/pwd.*not allowed/);
    expect(decision.hint).toContain('ALLOWED_COMMANDS=pwd');
  });

  test('T5: without a list, builtins that need no listing are refused with the same remedy', () => {
    for (const script of ['true', 'cd /tmp && true', 'x=1', '> out']) {
      const decision = judge(script, [], { allow: { kind: 'none' } });
      expect(decision).toMatchObject({ verdict: 'deny', rule: 'not_listed' });
      expect(decision.remedy).toMatch(/^Set ALLOWED_COMMANDS to the programs that may run/);
    }
    expect(judge('cd x; env ls', [], { allow: { kind: 'none' } }).reason).toMatch(/^env is not allowed/);
  });

  test('T5: a refusal names the program, its position and the smallest change that would allow it', () => {
    const decision = judge('ls && env A=1 touch x', ['ls', 'env']);
    expect(decision).toMatchObject({
      verdict: 'deny',
      program: 'touch',
      node: { pos: 14, end: 19, text: 'touch' },
    });
    expect(decision.reason).toBe(
      'touch (started by env) is not allowed, because it is not in ALLOWED_COMMANDS.',
    );
    expect(decision.remedy).toBe('Run nacre allow touch, or add touch to ALLOWED_COMMANDS.');
    expect(decision.hint).toContain('ls, env');
  });

  test('T5: if a project narrows the list, the remedy names both settings', () => {
    const narrowed = { narrowedBy: 'allowed_commands in /p/nacre.yaml' };
    const decision = judge('touch x', ['ls'], narrowed);
    expect(decision.reason).toContain('ALLOWED_COMMANDS as narrowed by allowed_commands in /p/nacre.yaml');
    expect(decision.remedy).toBe('Add touch to ALLOWED_COMMANDS and to allowed_commands in /p/nacre.yaml.');
    expect(judge('$x', ['ls'], narrowed).remedy).toMatch(/remove the list from allowed_commands in/);
  });

  test('a refusal begins with the program name as written', () => {
    expect(judge('find . -delete', ['find']).reason).toMatch(/^rm \(started by find\) /);
    expect(judge('/usr/bin/sort -o x y', ['sort']).reason).toMatch(/^sort -o /);
    expect(judge('PATH=. ls', ['ls']).reason).toMatch(/^Setting PATH /);
  });

  test('every program is listed with its position, in text order', () => {
    const { programs } = judge('cd x; ls | xargs -n1 wc', '*');
    expect(programs.map(({ name, pos, via }) => [name, pos, via])).toEqual([
      ['cd', 0, undefined],
      ['ls', 6, undefined],
      ['xargs', 11, undefined],
      ['wc', 21, 'xargs'],
    ]);
  });

  test('a program inside nested text has the position of that text', () => {
    const decision = judge("bash -c 'ls; touch x'", ['bash', 'ls']);
    expect(decision).toMatchObject({ program: 'touch', node: { text: "'ls; touch x'" } });
    expect(decision.reason).toContain('started by bash');
  });

  test('text or names that cannot be known are not allowed, and the reason says so', () => {
    expect(judge('$x y', ['ls']).reason).toMatch(/not allowed.*cannot be known/);
    expect(judge('bash -c "$x"', ['bash']).reason).toMatch(/cannot be known.*not allowed/);
    expect(judge('git --exec-path=. log', ['git']).reason).toMatch(/^git --exec-path.*not allowed/);
  });

  test('the hint shows part of a long list', () => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    expect(judge('x', names).hint).toMatch(/p19 and others\.$/);
    expect(judge('x', []).hint).toBe('No program is listed.');
  });

  test('P9: a parse error is reported before anything else', () => {
    expect(judge('rm -rf / "', '*')).toMatchObject({ verdict: 'deny', rule: 'unparsable' });
    expect(judge('ls $(if)', '*')).toMatchObject({ verdict: 'deny', rule: 'unparsable' });
    expect(judge(`ls \${x!y}`, '*')).toMatchObject({ verdict: 'deny', rule: 'unparsable' });
    expect(judge('ls; ls ( x', '*')).toMatchObject({ rule: 'unparsable', node: { pos: 7, text: '(' } });
    expect(judge(`x='\${'; echo $((x))`, '*')).toMatchObject({ verdict: 'deny', rule: 'unparsable' });
  });

  test('B10: the reason for danger says blocked, dangerous and why', () => {
    const decision = judge('rm -rf /', '*');
    expect(decision).toMatchObject({
      verdict: 'deny',
      rule: 'recursive_delete',
      program: 'rm',
      node: { text: '/' },
    });
    expect(decision.reason).toBe('rm is blocked as dangerous: it deletes the root directory.');
  });

  test('P8: with danger off, a dangerous command is allowed', () => {
    expect(judge('rm -rf /', '*', { danger: 'off' }).verdict).toBe('allow');
  });
});

describe('facts', () => {
  test('P8: relative paths are resolved from the directory the command would run in', () => {
    const at = (path: string) => ({ cwd: { asked: path, path } });
    expect(judge('rm -rf *', '*', {}, at('/')).verdict).toBe('deny');
    expect(judge('rm -rf ../../*', '*', {}, at('/home/ann')).verdict).toBe('deny');
    expect(judge('rm -rf ..', '*').verdict).toBe('deny');
    expect(judge('rm -rf *', '*').verdict).toBe('allow');
    expect(judge('rm -rf ~/x', '*').verdict).toBe('allow');
    expect(judge('cd .. && rm -rf *', '*').verdict).toBe('deny');
    expect(judge('(cd ..); rm -rf *', '*').verdict).toBe('allow');
    expect(judge('rm -rf "$PWD"/..', '*').verdict).toBe('deny');
    expect(judge('rm -rf ~+/../*', '*').verdict).toBe('deny');
  });

  test('after a branch or an alternative, both directories are considered', () => {
    const over = { cwd: { asked: '/', path: '/' } };
    expect(judge('cd /tmp || true; rm -rf *', '*', {}, over).verdict).toBe('deny');
    expect(judge('cd /tmp && rm -rf *', '*', {}, over).verdict).toBe('allow');
    expect(judge('if test -d /tmp; then cd /tmp; fi; rm -rf *', '*', {}, over).verdict).toBe('deny');
  });

  test('P3: a listed name covers paths in configured program directories', () => {
    expect(judge('/usr/local/bin/node x', ['node']).verdict).toBe('deny');
    expect(judge('/usr/local/bin/node x', ['node'], { programDirs: ['/usr/local/bin'] }).verdict).toBe(
      'allow',
    );
    expect(judge('/usr/bin//env', ['env']).verdict).toBe('allow');
    expect(judge('/x/y', ['/x/y']).verdict).toBe('allow');
    expect(judge('/x/./y', ['/x/y']).verdict).toBe('allow');
    expect(judge('/x/../x/y', ['/x/y']).verdict).toBe('deny');
  });

  test('H5: an argv command is judged without a shell, including the programs its arguments start', () => {
    const argv = (...words: [string, ...string[]]): Command => ({ kind: 'argv', argv: words });
    const decideArgv = (command: Command, names: string[]) =>
      decide(understand(command), facts, rulesOf(names));
    expect(decideArgv(argv('echo', '$(touch x); rm'), ['echo']).verdict).toBe('allow');
    expect(decideArgv(argv('find', '.', '-exec', 'rm', '{}', ';'), ['find'])).toMatchObject({
      verdict: 'deny',
      program: 'rm',
      node: { text: 'rm' },
    });
    expect(decideArgv(argv('git', '-c', 'alias.x=!touch y', 'x'), ['git'])).toMatchObject({
      verdict: 'deny',
      program: 'touch',
    });
    expect(decideArgv(argv('git', 'log', '--format=%h | %s'), ['git']).verdict).toBe('allow');
    expect(understand(argv('find', '.', '-exec', 'rm', '{}', ';')).programs).toEqual(['find', 'rm']);
  });
});

describe('command context', () => {
  const with_ = (script: string, names: readonly string[] | '*', context: CommandContext) =>
    decide(understand(shell(script), context), facts, rulesOf(names));

  test('P7: variables in the call’s env are judged like assignments in the command', () => {
    expect(with_('ls', ['ls'], { env: { LD_PRELOAD: './x.so' } })).toMatchObject({
      verdict: 'deny',
      rule: 'environment',
      program: 'LD_PRELOAD',
    });
    expect(with_('ls', ['ls'], { env: { GIT_AUTHOR_NAME: 'A' } }).verdict).toBe('allow');
    expect(with_('$X y', ['ls', 'touch'], { env: { X: 'touch' } }).verdict).toBe('allow');
  });

  test('P4: text on the stdin of a shell is judged', () => {
    expect(with_('bash', ['bash', 'ls'], { stdin: { kind: 'text', text: 'ls; touch x' } })).toMatchObject({
      verdict: 'deny',
      program: 'touch',
    });
    expect(with_('bash', ['bash', 'ls'], { stdin: { kind: 'text', text: 'ls' } }).verdict).toBe('allow');
    expect(with_('bash', ['bash'], { stdin: { kind: 'none' } }).verdict).toBe('allow');
    expect(with_('bash', ['bash'], { stdin: { kind: 'later' } }).verdict).toBe('deny');
    expect(with_('cat | bash', ['bash', 'cat'], { stdin: { kind: 'text', text: 'touch x' } })).toMatchObject({
      program: 'touch',
    });
    expect(with_('bash', '*', { stdin: { kind: 'text', text: 'rm -rf /' } })).toMatchObject({
      rule: 'recursive_delete',
    });
  });
});

describe('P11: the confirm tier', () => {
  const confirm = (script: string) => judge(script, '*', { confirm: 'unlisted' }).verdict;

  test.each([
    'git push',
    'npm ci && npm test',
    'ls | grep x',
    'cd x; pwd',
    "find . -name '*.ts'",
    'sed -n 1p f',
    "awk '{print $1}' f",
    'docker ps',
    '/bin/ls',
    'grep x y > /dev/null 2>&1',
    'echo x > f; cat f > g',
    'docker logs x > log',
    'npm test > log',
  ])('runs `%s` without asking', (script) => {
    expect(confirm(script)).toBe('allow');
  });

  test.each([
    'rm x',
    'curl x',
    './git push',
    '$x y',
    'eval "$x"',
    'cat x | bash',
    "git -c core.pager='touch x' log",
    'python3 -c \'import os; os.system("x")\'',
    'PATH=. git log',
    "sed -n 'w out' f",
    'find . -delete',
    'sed -i s/a/b/ f',
    'grep x y > z',
    '{ ls; grep x y; } >> z',
    'docker rm x',
    'ls; touch x',
    'constructor',
  ])('asks before `%s`', (script) => {
    expect(confirm(script)).toBe('ask');
  });

  test('a denied command stays denied', () => {
    expect(confirm('rm -rf /')).toBe('deny');
    expect(judge('curl x', ['ls'], { confirm: 'unlisted' }).verdict).toBe('deny');
  });
});

describe('rules from the settings', () => {
  const rule = (
    verdict: PolicyRule['verdict'],
    program: string,
    args?: string[],
    more: Partial<PolicyRule> = {},
  ): PolicyRule => ({
    verdict,
    program,
    args,
    reason: `${verdict} ${program}`,
    ...more,
  });
  const ruled = (script: string, names: readonly string[] | '*', ...policy: PolicyRule[]) =>
    judge(script, names, { policy });

  test('deny and ask apply to listed programs, including nested ones', () => {
    const push = rule('ask', 'git', ['push', '...']);
    expect(ruled('git push origin main', ['git'], push)).toMatchObject({
      verdict: 'ask',
      rule: 'rule:git',
      program: 'git',
    });
    expect(ruled('git log', ['git'], push).verdict).toBe('allow');
    expect(ruled("bash -c 'git push'", '*', push).verdict).toBe('ask');
    expect(ruled('curl x', '*', rule('deny', 'curl')).reason).toMatch(/not allowed here: deny curl/);
  });

  test('the strictest rule wins, and the first of equals gives the reason', () => {
    const rules = [
      rule('allow', 'git'),
      rule('ask', '*', undefined, { reason: 'first' }),
      rule('ask', 'git', undefined, { reason: 'second' }),
    ];
    expect(ruled('git x', '*', ...rules)).toMatchObject({
      verdict: 'ask',
      reason: 'git needs approval: first',
    });
    expect(ruled('git x', '*', ...rules, rule('deny', 'git')).verdict).toBe('deny');
  });

  test('allow covers a program that is not listed, but not danger or other arguments', () => {
    const test_ = rule('allow', 'npm', ['run', 'test*']);
    expect(ruled('npm run test:unit', ['ls'], test_).verdict).toBe('allow');
    expect(ruled('npm run build', ['ls'], test_).verdict).toBe('deny');
    expect(ruled('npm run "$x"', ['ls'], test_).verdict).toBe('deny');
    expect(ruled('npm run "$x"', ['ls'], rule('allow', 'npm', ['run', '*'])).verdict).toBe('allow');
    expect(ruled('npm $x', ['ls'], rule('allow', 'npm', ['*'])).verdict).toBe('deny');
    expect(ruled('rm -rf /', [], rule('allow', 'rm'))).toMatchObject({
      verdict: 'deny',
      rule: 'recursive_delete',
    });
  });

  test('P3: allow covers the paths that a listed name would, and deny every path with that name', () => {
    const git = rule('allow', 'git');
    expect(ruled('/usr/bin/git log', ['ls'], git).verdict).toBe('allow');
    for (const script of ['./git log', '/tmp/git log', 'env ./git', '/usr/bin/../../tmp/git'])
      expect([script, ruled(script, ['env'], git).verdict]).toEqual([script, 'deny']);
    expect(ruled('./git log', ['ls'], rule('allow', './git')).verdict).toBe('allow');
    const local = { policy: [git], programDirs: ['/usr/local/bin'] };
    expect(judge('/usr/local/bin/git log', ['ls'], local).verdict).toBe('allow');
    expect(ruled('./git log', '*', rule('deny', 'git')).verdict).toBe('deny');
  });

  test('without a list, an allow rule allows its own program only', () => {
    const none = { allow: { kind: 'none' }, policy: [rule('allow', 'ls')] } as const;
    expect(judge('cd x && ls', [], none).verdict).toBe('allow');
    expect(judge('cat x', [], none).verdict).toBe('deny');
  });

  test('P9: thousands of words and many gaps in a pattern are matched with less than 3 s of CPU time', () => {
    const gaps = Array.from({ length: 20 }, (_, index) => ['...', `w${index}`]).flat();
    const words = `git ${'a '.repeat(20_000)}`;
    const tookMs = cpuMsOf(() => {
      expect(ruled(words, '*', rule('deny', 'git', gaps)).verdict).toBe('allow');
      const force = rule('deny', 'git', ['...', '--force', '...']);
      expect(ruled(`${words} --force b`, '*', force).verdict).toBe('deny');
    });
    expect(tookMs).toBeLessThan(3_000);
  });

  test('unknown words match restricting rules', () => {
    const push = rule('deny', 'git', ['push', '...']);
    expect(ruled('git "$x"', '*', push).verdict).toBe('deny');
    expect(ruled('git $x y', '*', push).verdict).toBe('deny');
    expect(ruled('git pu"$x"', '*', push).verdict).toBe('deny');
    expect(ruled('git log"$x"', '*', push).verdict).toBe('allow');
    expect(ruled('git log $x', '*', rule('deny', 'git', ['log'])).verdict).toBe('deny');
  });

  test('a rule with cwd applies in that directory only', () => {
    const here = rule('deny', 'make', undefined, { cwd: '/home/ann/project' });
    expect(ruled('make', '*', here).verdict).toBe('deny');
    expect(ruled('cd sub && make', '*', here).verdict).toBe('deny');
    expect(ruled('cd /tmp && make', '*', here).verdict).toBe('allow');
    expect(ruled('cd "$x" && make', '*', here).verdict).toBe('deny');
    expect(
      ruled('cd "$x" && make', ['ls'], rule('allow', 'make', undefined, { cwd: '/home/ann' })).verdict,
    ).toBe('deny');
    expect(
      ruled('cd sub && make', ['ls'], rule('allow', 'make', undefined, { cwd: '/home/ann/' })).verdict,
    ).toBe('allow');
  });
});

describe('unprotected', () => {
  const verdictWith = (script: string, unprotected: readonly string[]) =>
    decide(understand({ kind: 'shell', script }), facts, {
      allow: { kind: 'names', names: ['echo', 'cp'] },
      allowSetting: 'ALLOWED_COMMANDS',
      danger: 'block',
      unprotected,
    }).verdict;

  test.each([
    ['echo x > .envrc', '.envrc'],
    ['echo x > sub/.vscode/tasks.json', '.vscode'],
    ['echo x > .vscode/tasks.json', '.vscode/tasks.json'],
    ['cp a .git/config', '.git/config'],
    ['echo x > "$dir/.git/config"', '.git/config'],
    ['cp a .git/hooks/pre-commit', '*'],
  ])('%s is allowed with %s', (script, name) => {
    expect(verdictWith(script, [])).toBe('deny');
    expect(verdictWith(script, [name])).toBe('allow');
  });

  test.each([
    ['echo x > .envrc', '.vscode'],
    ['cp a .git/hooks/pre-commit', '.git/config'],
    ['echo x > .vscode/tasks.json; echo x > .envrc', '.vscode'],
    ['echo x > ~/.bashrc', '*'],
    ['echo x > /etc/profile', '*'],
  ])('%s stays refused with %s', (script, name) => {
    expect(verdictWith(script, [name])).toBe('deny');
  });
});
