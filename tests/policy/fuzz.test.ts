import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { soakCount } from '../support/soak.ts';

const pieces = [
  'ls',
  'rm',
  '-rf',
  '/',
  '$x',
  '"$x"',
  "'a b'",
  '`',
  '$(',
  ')',
  '((',
  '))',
  '{',
  '}',
  '{a,b}',
  '{1..9}',
  ';',
  '|',
  '&',
  '&&',
  '||',
  '\n',
  ' ',
  '<<E',
  '\nE\n',
  '<<<',
  '<(',
  '>',
  '>>',
  '2>&1',
  'if',
  'then',
  'fi',
  'for',
  'in',
  'do',
  'done',
  'while',
  'case',
  'esac',
  ';;',
  'f()',
  'function',
  '[[',
  ']]',
  '-v',
  'a[0]',
  '${x:-',
  `\${!y}`,
  `\${x@P}`,
  '$((',
  'x=',
  'x+=(',
  'eval',
  'bash -c',
  'trap',
  'let',
  'declare -n',
  'printf -v',
  'read',
  'unset',
  'find . -exec',
  'xargs',
  'sed',
  'awk',
  'git -c',
  'tar',
  'env',
  '\\',
  '"',
  "'",
  "$'\\x41'",
  '~',
  '*',
  '!',
  '@(a|b)',
  'alias',
  'local',
  'python3 -c',
  'coproc',
  'time',
  'constructor',
  '__proto__',
];

const verdictOf = (command: string, allow: readonly string[] | '*') => {
  const before = process.cpuUsage();
  const decision = decideCommand(command, allow);
  return { ...decision, tookMs: process.cpuUsage(before).user / 1_000 };
};

describe('P9: every input gets a verdict', () => {
  test('random characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (command) => {
        for (const allow of [['ls'], '*'] as const) {
          const decision = verdictOf(command, allow);
          expect(['allow', 'deny']).toContain(decision.verdict);
          expect(decision.rule).not.toBe('not_understood');
        }
      }),
      { numRuns: soakCount(400, 200) },
    );
  });

  test('random pieces of shell', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 60 }),
        fc.constantFrom(' ', ''),
        (words, separator) => {
          const decision = verdictOf(words.join(separator), [
            'ls',
            'eval',
            'bash',
            'find',
            'sed',
            'awk',
            'git',
            'tar',
            'env',
            'xargs',
          ]);
          expect(decision.rule).not.toBe('not_understood');
          expect(decision.tookMs).toBeLessThan(2_000);
        },
      ),
      { numRuns: soakCount(1_500, 400) },
    );
  });

  const deep: [string, string][] = [
    ['substitutions', `${'$('.repeat(3_000)}ls${')'.repeat(3_000)}`],
    ['subshells', `${'('.repeat(3_000)}ls${')'.repeat(3_000)}`],
    ['braces', '{a,b}'.repeat(200)],
    ['nested braces', `${'{a,'.repeat(2_000)}b${'}'.repeat(2_000)}`],
    [
      'functions that call twice',
      `${Array.from({ length: 40 }, (_, i) => `f${i}() { f${i + 1}; f${i + 1}; }`).join('\n')}\nf0`,
    ],
    ['loops that change variables', `${'for i in 1 2; do x=$x$i; '.repeat(40)}ls; ${'done; '.repeat(40)}`],
    ['values that double', `x=a; ${'[ $y ] && x=$x$x; '.repeat(80)}ls $x`],
    ['text that evaluates itself', `x='eval "$x"'; eval "$x"`],
    ['arithmetic that refers to itself', 'x=y; y=x; echo $((x))'],
    ['aliases that refer to each other', 'alias a=b; alias b=a; a'],
    ['many words', 'a '.repeat(200_000)],
    ['a long heredoc', `cat <<E\n${'hello $x\n'.repeat(20_000)}E\n`],
    [
      'many variables and subshells',
      `${Array.from({ length: 2_000 }, (_, i) => `v${i}=1`).join(';')};${'(ls);'.repeat(2_000)}`,
    ],
    ['names of object properties', 'constructor; __proto__; toString=1 hasOwnProperty; export constructor=1'],
  ];

  test.each(deep)('within bounded time: %s', (_name, command) => {
    const decision = verdictOf(command, ['ls', 'echo', 'eval', 'cat', 'alias']);
    expect(decision.rule).not.toBe('not_understood');
    expect(decision.tookMs).toBeLessThan(5_000);
  });

  test('a 200 KB command is allowed', () => {
    expect(decideCommand('echo hello world\n'.repeat(12_000), ['echo'])).toMatchObject({ verdict: 'allow' });
  });

  test('a command beyond a limit is refused under every list', () => {
    expect(decideCommand(`${'a'.repeat(1_100_000)}`, '*')).toMatchObject({
      verdict: 'deny',
      rule: 'too_large',
    });
    expect(decideCommand('{a,b}'.repeat(200), '*')).toMatchObject({ verdict: 'deny', rule: 'too_large' });
  });
});
