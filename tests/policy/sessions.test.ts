import { describe, expect, test } from 'vitest';
import type { Decision } from '../../src/contract/decision.ts';
import type { Facts, SessionFacts } from '../../src/contract/facts.ts';
import { decide } from '../../src/policy/decide.ts';
import { understand } from '../../src/policy/understand.ts';

const fresh: SessionFacts = {
  cwd: '/home/ann/project',
  aliases: {},
  functions: {},
  exportedFunctions: [],
  variables: {},
  attributes: {},
  arrays: [],
  options: ['braceexpand', 'expand_aliases', 'extglob'],
  pathUnchanged: true,
};

function inSession(
  script: string,
  names: readonly string[] | '*',
  session: Partial<SessionFacts> = {},
  cwd = '/home/ann/project',
): Decision {
  return byFacts(script, names, { ...fresh, ...session }, cwd);
}

function byFacts(
  script: string,
  names: readonly string[] | '*',
  session: SessionFacts,
  cwd = '/home/ann/project',
): Decision {
  const facts: Facts = {
    cwd: { asked: '.', path: cwd },
    roots: [],
    home: '/home/ann',
    programs: {},
    session,
  };
  return decide(understand({ kind: 'shell', script }), facts, {
    allow: names === '*' ? { kind: 'all' } : { kind: 'names', names },
    allowSetting: 'ALLOWED_COMMANDS',
    danger: 'block',
  });
}

/** Judges the first command of a session, before the state of its shell is known. */
function asFirst(script: string, names: readonly string[]): Decision {
  const facts: Facts = {
    cwd: { asked: '.', path: '/home/ann/project' },
    roots: [],
    home: '/home/ann',
    programs: {},
  };
  return decide(understand({ kind: 'shell', script }, { lasting: true }), facts, {
    allow: { kind: 'names', names },
    allowSetting: 'ALLOWED_COMMANDS',
    danger: 'block',
  });
}

test('P13: judging a command does not change the facts for the next one', () => {
  const session: SessionFacts = {
    ...fresh,
    variables: { tool: 'ls', n: '1' },
    attributes: { tool: 'x', n: 'i' },
  };
  const changes = [
    'tool=rm; n=x; export more=rm',
    '(tool=rm; declare -i tool); for tool in rm mv; do :; done',
    'if true; then tool=rm; else unset tool; fi; while false; do tool=rm; done',
    'f() { tool=rm; }; f; trap "tool=rm" EXIT; alias ls=rm; readonly tool; declare -n n=tool; x=$(tool=rm)',
    'case $tool in ls) tool=rm;; *) n=2;; esac; { tool=rm; } | cat; coproc { tool=rm; }',
  ];
  for (const script of [...changes, ...changes]) {
    byFacts(script, '*', session);
    expect(byFacts('$tool -l; ls; echo $((n))', ['ls', 'echo'], session).verdict).toBe('allow');
    expect(byFacts('$tool -l', ['echo'], session).verdict).toBe('deny');
  }
});

describe('P13: definitions of a session are judged where a command uses them', () => {
  const session = {
    aliases: { ll: 'ls -l', gone: 'rm -rf' },
    functions: { greet: 'greet () { echo "hi $1"; }', ls: 'ls () { touch x; }', odd: 'not a function' },
  };

  test('functions and aliases are judged by their text', () => {
    expect(inSession('greet Ann', ['echo'], session).verdict).toBe('allow');
    expect(inSession('greet Ann', ['ls'], session)).toMatchObject({ verdict: 'deny', program: 'echo' });
    expect(inSession('ls', ['ls'], session)).toMatchObject({ verdict: 'deny', program: 'touch' });
    expect(inSession('ll', ['ll', 'ls', 'touch'], session).verdict).toBe('allow');
    expect(inSession('ll', ['ll'], session)).toMatchObject({ verdict: 'deny' });
    expect(inSession("gone '/'", '*', session)).toMatchObject({ verdict: 'deny', rule: 'recursive_delete' });
  });

  test('definitions that the command does not use are ignored', () => {
    expect(inSession('cat x', ['cat'], session).verdict).toBe('allow');
  });

  test('a function that does not parse is refused under a list', () => {
    expect(inSession('odd', ['odd'], session)).toMatchObject({ verdict: 'deny', rule: 'unknown_program' });
    expect(inSession('odd', '*', session).verdict).toBe('allow');
    expect(inSession('"$1"', ['ls']).verdict).toBe('deny');
  });

  test('child shells have exported functions only', () => {
    const functions = { ls: 'ls () { git "$@"; }' };
    const evil = "bash -c 'ls -c core.pager=touch log'";
    const names = ['bash', 'ls', 'git'];
    expect(inSession(evil, names, { functions, exportedFunctions: ['ls'] })).toMatchObject({
      verdict: 'deny',
      program: 'touch',
    });
    expect(inSession(evil, names, { functions }).verdict).toBe('allow');
    const harmless = { functions: { touch: 'touch () { ls; }' } };
    expect(inSession("bash -c 'touch x'", ['bash', 'ls'], harmless)).toMatchObject({ program: 'touch' });
  });

  test('a fork bomb defined by an earlier command is refused', () => {
    const functions = { f: 'f () { f | f & }' };
    expect(inSession('f', '*', { functions })).toMatchObject({ verdict: 'deny', rule: 'fork_bomb' });
    const exported = { functions: { f: 'f () { bash -c f & bash -c f; }' }, exportedFunctions: ['f'] };
    expect(inSession('bash -c f', '*', exported)).toMatchObject({ verdict: 'deny', rule: 'fork_bomb' });
  });
});

describe('P13: variables of a session', () => {
  const withValue = (value: string, attributes = '--'): Partial<SessionFacts> => ({
    variables: { v: value },
    attributes: { v: attributes },
  });

  test('have known values', () => {
    expect(inSession('$v x', ['cat'], withValue('touch'))).toMatchObject({
      verdict: 'deny',
      program: 'touch',
    });
    expect(inSession('$v x', ['ls'], withValue('ls')).verdict).toBe('allow');
    expect(inSession('((v))', ['ls'], withValue('a[$(touch x)]'))).toMatchObject({ program: 'touch' });
    expect(inSession('rm -rf "$v"', '*', withValue('/'))).toMatchObject({ rule: 'recursive_delete' });
    expect(inSession('rm -rf ~', '*', { variables: { HOME: '/usr' } })).toMatchObject({ verdict: 'deny' });
  });

  test('are visible in a child shell only if exported', () => {
    const evil = 'a[$(touch x)]';
    expect(inSession("bash -c '((v))'", ['bash'], withValue(evil, 'x'))).toMatchObject({ program: 'touch' });
    expect(inSession("bash -c '$v touch'", ['bash', 'ls'], withValue('ls', 'x')).verdict).toBe('allow');
    expect(inSession("bash -c '$v touch'", ['bash', 'ls'], withValue('ls')).verdict).toBe('deny');
  });

  test('keep their attributes', () => {
    expect(inSession('v=.; ls', ['ls'], withValue('PATH', 'n'))).toMatchObject({ rule: 'environment' });
    expect(inSession('v=.; ls', ['ls'], withValue('a[0]', 'n'))).toMatchObject({ rule: 'unknown_variable' });
    expect(inSession("v='a[$(touch x)]'", ['ls'], withValue('1', 'i'))).toMatchObject({ program: 'touch' });
    expect(inSession("v='a[$(touch x)]'", ['ls'], withValue('1')).verdict).toBe('allow');
    expect(inSession('v=LS; $v', ['LS'], withValue('', 'l'))).toMatchObject({ rule: 'unknown_program' });
    expect(inSession('v=ls; $v', ['ls'], withValue('touch', 'r'))).toMatchObject({ program: 'touch' });
  });

  test('arrays have known entries', () => {
    const arrays = ['declare -a a=([0]="1" [1]="b[\\$(touch x)]")'];
    expect(inSession('(( a[1] ))', ['ls'], { arrays })).toMatchObject({ verdict: 'deny', program: 'touch' });
    expect(inSession('echo "${a[0]}"', ['echo'], { arrays }).verdict).toBe('allow');
    const command = ['declare -a a=([0]="ls" [1]="-l")'];
    expect(inSession('"${a[@]}"', ['ls'], { arrays: command }).verdict).toBe('allow');
    expect(inSession('"${a[@]}"', ['cat'], { arrays: command })).toMatchObject({ program: 'ls' });
  });

  test('an array that is too long to check is refused if it may contain code', () => {
    const long = (entry: string) => [`declare -a a=(${`[0]="${entry}" `.repeat(1_000)})`];
    expect(inSession('ls', ['ls'], { arrays: long('x') }).verdict).toBe('allow');
    expect(inSession('ls', ['ls'], { arrays: long('\\$(x)') })).toMatchObject({ rule: 'session_array' });
    expect(inSession('ls', '*', { arrays: long('\\$(x)') }).verdict).toBe('allow');
  });
});

describe('P13: in a session where names may mean something else, a list refuses every program', () => {
  test.each<[string, string, Partial<SessionFacts>]>([
    ['another PATH', 'session_path', { pathUnchanged: false }],
    ['set -o posix', 'session_options', { options: ['posix'] }],
    ['set -k', 'session_options', { options: ['keyword'] }],
    ['shopt -s extdebug', 'session_options', { options: ['extdebug'] }],
    ['shopt -s lastpipe', 'session_options', { options: ['lastpipe'] }],
    ['a function named builtin', 'redefined', { functions: { builtin: 'builtin () { :; }' } }],
    ['an alias named declare', 'redefined', { aliases: { declare: 'ls' } }],
    ['an alias for a keyword', 'redefined', { aliases: { if: 'ls; if' } }],
    [
      'a function that bash calls itself',
      'redefined',
      { functions: { command_not_found_handle: 'command_not_found_handle () { "$@"; }' } },
    ],
  ])('%s', (_what, rule, session) => {
    const decision = inSession('cat x', ['cat'], session);
    expect(decision).toMatchObject({ verdict: 'deny', rule, hint: 'Start a new session.' });
    expect(decision.reason).toMatch(/^This session has .* not allowed under an allow list\.$/);
    expect(inSession('cat x', '*', session).verdict).toBe('allow');
  });
});

describe('P13: changing what names mean for later commands is refused under a list', () => {
  const builtins =
    'builtin declare typeset printf eval set shopt alias unalias trap unset command export exec read local enable';
  test.each(builtins.split(' '))('a function or alias named %s', (name) => {
    const names = ['ls', 'alias', name];
    for (const script of [
      `${name}() { ls; }`,
      `function ${name} { ls; }`,
      `if true; then ${name}() { ls; }; fi`,
      `alias ${name}=ls`,
      `eval '${name}() { ls; }'`,
    ]) {
      const allow = [...names, 'eval'];
      expect([script, inSession(script, allow).rule]).toEqual([script, 'redefined']);
      expect([script, asFirst(script, allow).rule]).toEqual([script, 'redefined']);
    }
    expect(inSession(`(${name}() { ls; }; ls)`, names).verdict).toBe('allow');
    expect(inSession(`${name}() { ls; }`, '*').verdict).toBe('allow');
  });

  test.each([
    'enable -n read',
    'enable -f ./x.so x',
    'hash -p ./evil ls',
    'shopt -s extdebug',
    'shopt -s lastpipe',
    'set -o posix',
    'set -k',
    'PATH=.',
    'export PATH=$PATH:.',
    'BASH_ENV=./x',
    'export BASH_ENV=./x',
    'BASH_ALIASES[ls]=touch',
    'BASH_CMDS[ls]=./evil',
    'declare -n r=BASH_ALIASES; r[ls]=touch',
    'PROMPT_COMMAND=ls',
    "PS4='$(touch x)'",
    'command_not_found_handle() { ls; }',
    'alias ls=touch',
    "alias x='a;'\"'\"",
    'f() { touch x; }',
    "v=:; trap '$v' DEBUG",
    'trap ls EXIT',
    "trap 'ls' DEBUG",
    'f() { trap ls EXIT; }',
  ])('%s', (script) => {
    const names = 'ls enable hash shopt alias trap eval'.split(' ');
    expect(inSession(script, names).verdict).toBe('deny');
    expect(asFirst(script, names).verdict).toBe('deny');
  });

  test.each([
    "trap '' INT",
    'trap - EXIT',
    "(trap 'ls' EXIT; ls)",
    "bash -c 'trap ls EXIT; ls'",
    'alias ll="ls -l"; ll',
    'show() { ls "$1"; }',
    'cd src && ls',
    'export A=1; x=2; declare -a list=(1 2)',
    'set -euo pipefail',
  ])('%s is allowed', (script) => {
    const decision = inSession(script, 'ls trap bash alias ll'.split(' '));
    expect({ verdict: decision.verdict, reason: decision.reason }).toMatchObject({ verdict: 'allow' });
  });
});

describe('P13: danger is judged in the directory the command would run in', () => {
  test('the directory of the facts is used, not that of the session', () => {
    expect(inSession('rm -rf *', '*', {}, '/')).toMatchObject({ verdict: 'deny', rule: 'recursive_delete' });
    expect(inSession('rm -rf *', '*', { cwd: '/' }, '/home/ann/project').verdict).toBe('allow');
    expect(inSession('cd ..; rm -rf *', '*', {}, '/usr').verdict).toBe('deny');
    expect(inSession('chmod -R 777 .', '*', {}, '/etc').verdict).toBe('deny');
    expect(inSession('rm -rf *', '*', {}, '/tmp/build').verdict).toBe('allow');
  });

  test('directories in the session’s CDPATH are considered', () => {
    const variables = { CDPATH: '/' };
    expect(inSession('cd etc && rm -rf *', '*', { variables }).verdict).toBe('deny');
    expect(inSession('cd ./etc && rm -rf *', '*', { variables }).verdict).toBe('allow');
    expect(inSession('cd etc && rm -rf *', '*').verdict).toBe('allow');
  });
});
