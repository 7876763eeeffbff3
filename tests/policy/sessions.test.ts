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

/** The first command of a session, before anything is known of its shell. */
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

test('P13: commands that are judged by the same facts leave nothing in them for the next', () => {
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

describe('P13: what a session has defined is judged where a command uses it', () => {
  const session = {
    aliases: { ll: 'ls -l', gone: 'rm -rf' },
    functions: { greet: 'greet () { echo "hi $1"; }', ls: 'ls () { touch x; }', odd: 'not a function' },
  };

  test('functions and aliases by their text', () => {
    expect(inSession('greet Ann', ['echo'], session).verdict).toBe('allow');
    expect(inSession('greet Ann', ['ls'], session)).toMatchObject({ verdict: 'deny', program: 'echo' });
    expect(inSession('ls', ['ls'], session)).toMatchObject({ verdict: 'deny', program: 'touch' });
    expect(inSession('ll', ['ll', 'ls', 'touch'], session).verdict).toBe('allow');
    expect(inSession('ll', ['ll'], session)).toMatchObject({ verdict: 'deny' });
    expect(inSession("gone '/'", '*', session)).toMatchObject({ verdict: 'deny', rule: 'recursive_delete' });
  });

  test('what the command does not use does not matter', () => {
    expect(inSession('cat x', ['cat'], session).verdict).toBe('allow');
  });

  test('what is not understood is refused under a list', () => {
    expect(inSession('odd', ['odd'], session)).toMatchObject({ verdict: 'deny', rule: 'unknown_program' });
    expect(inSession('odd', '*', session).verdict).toBe('allow');
    expect(inSession('"$1"', ['ls']).verdict).toBe('deny');
  });

  test('functions that were exported are there in child shells, others are not', () => {
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

  test('a fork bomb that an earlier command has defined', () => {
    const functions = { f: 'f () { f | f & }' };
    expect(inSession('f', '*', { functions })).toMatchObject({ verdict: 'deny', rule: 'fork_bomb' });
    const exported = { functions: { f: 'f () { bash -c f & bash -c f; }' }, exportedFunctions: ['f'] };
    expect(inSession('bash -c f', '*', exported)).toMatchObject({ verdict: 'deny', rule: 'fork_bomb' });
  });
});

describe('P13: variables of a session', () => {
  const holding = (value: string, attributes = '--'): Partial<SessionFacts> => ({
    variables: { v: value },
    attributes: { v: attributes },
  });

  test('are known by their values', () => {
    expect(inSession('$v x', ['cat'], holding('touch'))).toMatchObject({ verdict: 'deny', program: 'touch' });
    expect(inSession('$v x', ['ls'], holding('ls')).verdict).toBe('allow');
    expect(inSession('((v))', ['ls'], holding('a[$(touch x)]'))).toMatchObject({ program: 'touch' });
    expect(inSession('rm -rf "$v"', '*', holding('/'))).toMatchObject({ rule: 'recursive_delete' });
    expect(inSession('rm -rf ~', '*', { variables: { HOME: '/usr' } })).toMatchObject({ verdict: 'deny' });
  });

  test('reach a child shell only when they are exported', () => {
    const evil = 'a[$(touch x)]';
    expect(inSession("bash -c '((v))'", ['bash'], holding(evil, 'x'))).toMatchObject({ program: 'touch' });
    expect(inSession("bash -c '$v touch'", ['bash', 'ls'], holding('ls', 'x')).verdict).toBe('allow');
    expect(inSession("bash -c '$v touch'", ['bash', 'ls'], holding('ls')).verdict).toBe('deny');
  });

  test('keep what their attributes do', () => {
    expect(inSession('v=.; ls', ['ls'], holding('PATH', 'n'))).toMatchObject({ rule: 'environment' });
    expect(inSession('v=.; ls', ['ls'], holding('a[0]', 'n'))).toMatchObject({ rule: 'unknown_variable' });
    expect(inSession("v='a[$(touch x)]'", ['ls'], holding('1', 'i'))).toMatchObject({ program: 'touch' });
    expect(inSession("v='a[$(touch x)]'", ['ls'], holding('1')).verdict).toBe('allow');
    expect(inSession('v=LS; $v', ['LS'], holding('', 'l'))).toMatchObject({ rule: 'unknown_program' });
    expect(inSession('v=ls; $v', ['ls'], holding('touch', 'r'))).toMatchObject({ program: 'touch' });
  });

  test('arrays are known by their entries', () => {
    const arrays = ['declare -a a=([0]="1" [1]="b[\\$(touch x)]")'];
    expect(inSession('(( a[1] ))', ['ls'], { arrays })).toMatchObject({ verdict: 'deny', program: 'touch' });
    expect(inSession('echo "${a[0]}"', ['echo'], { arrays }).verdict).toBe('allow');
    const command = ['declare -a a=([0]="ls" [1]="-l")'];
    expect(inSession('"${a[@]}"', ['ls'], { arrays: command }).verdict).toBe('allow');
    expect(inSession('"${a[@]}"', ['cat'], { arrays: command })).toMatchObject({ program: 'ls' });
  });

  test('an array too long to be looked through is refused when code could stand in it', () => {
    const long = (entry: string) => [`declare -a a=(${`[0]="${entry}" `.repeat(1_000)})`];
    expect(inSession('ls', ['ls'], { arrays: long('x') }).verdict).toBe('allow');
    expect(inSession('ls', ['ls'], { arrays: long('\\$(x)') })).toMatchObject({ rule: 'session_array' });
    expect(inSession('ls', '*', { arrays: long('\\$(x)') }).verdict).toBe('allow');
  });
});

describe('P13: where names have another meaning, a list refuses every program', () => {
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

describe('P13: what would change the meaning of names for later commands is refused under a list', () => {
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
  ])('%s runs', (script) => {
    const decision = inSession(script, 'ls trap bash alias ll'.split(' '));
    expect({ verdict: decision.verdict, reason: decision.reason }).toMatchObject({ verdict: 'allow' });
  });
});

describe('P13: danger is judged with the directory in which the command would run', () => {
  test('whatever the session or the call says it is', () => {
    expect(inSession('rm -rf *', '*', {}, '/')).toMatchObject({ verdict: 'deny', rule: 'recursive_delete' });
    expect(inSession('rm -rf *', '*', { cwd: '/' }, '/home/ann/project').verdict).toBe('allow');
    expect(inSession('cd ..; rm -rf *', '*', {}, '/usr').verdict).toBe('deny');
    expect(inSession('chmod -R 777 .', '*', {}, '/etc').verdict).toBe('deny');
    expect(inSession('rm -rf *', '*', {}, '/tmp/build').verdict).toBe('allow');
  });

  test('a CDPATH of the session is looked through', () => {
    const variables = { CDPATH: '/' };
    expect(inSession('cd etc && rm -rf *', '*', { variables }).verdict).toBe('deny');
    expect(inSession('cd ./etc && rm -rf *', '*', { variables }).verdict).toBe('allow');
    expect(inSession('cd etc && rm -rf *', '*').verdict).toBe('allow');
  });
});
