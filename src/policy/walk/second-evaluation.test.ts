import { describe, expect, test } from 'vitest';
import { decideCommand } from '../decide-command.ts';

const list = 'echo cat printf read bash mapfile eval pushd history select getopts time'.split(' ');
const text = "'a[$(touch x)]'";

/** Commands that store the text in `v` in a way that must be followed, or that must count as lost. */
const stored = {
  'a loop over the arguments': `set -- ${text}; for v; do :; done`,
  'the last argument': `set -- 1 ${text}; v=\${@: -1}`,
  'the last argument by its number': `set -- 1 ${text}; v=\${!#}`,
  'a slice up to an unknown number': `set -- 1 ${text}; v=\${@:$#}`,
  'an operator on all arguments': `set -- ${text}; v=\${@/x/y}`,
  'an operator on all entries': `z=(1 ${text}); v=\${z[@]/x/y}`,
  'the argument of an option': `set -- -x ${text}; getopts x: o; v=$OPTARG`,
  'the reply in a menu': `select w in x; do v=$REPLY; break; done <<< ${text}`,
  'a menu of the arguments': `set -- ${text}; select v; do break; done <<< 1`,
  'the target of a reference': `declare -n r; for r in v; do r=${text}; done`,
  'a key of an associative array': `declare -A z; z=(${text} 1); for v in "\${!z[@]}"; do :; done`,
  'the stack of directories': `pushd -n ${text}; v=\${DIRSTACK[1]}`,
  'the name of the shell': `BASH_ARGV0=${text}; v=$0`,
  'the history': `history -s ${text}; v=$(history 1)`,
  'a format of times': `TIMEFORMAT=${text}; v=$({ time :; } 2>&1)`,
  'escapes that are decoded': `w='a[\\x24(touch x)]'; v=\${w@E}`,
  'text that a pattern changes': `w='a[$(echo touch x)]'; v=\${w/[e]cho /}`,
} as const;

describe('P2: text that bash evaluates again', () => {
  test.each(Object.entries(stored))('arithmetic on %s is refused', (_name, store) => {
    for (const use of [': $((v))', '[[ $v -gt 0 ]]', 'b[v]=1', `: \${!v}`, 'declare -i n=$v']) {
      expect(decideCommand(`${store}; ${use}`, list), use).toMatchObject({ verdict: 'deny' });
    }
  });

  test.each([
    `x=${text} <<< $((x))`,
    ': "$(( #))\ntouch x\n))"',
    `x=${text} > $((x))`,
    `declare -i n=x; v=${text}; n+=v`,
    `declare -i n=x; v=${text}; export n+=v`,
    `f() { local -i n=x; n+=v; }; v=${text}; f`,
    `x='\\044(touch x)'; : \${x@P}`,
  ])('%s is refused', (command) => {
    expect(decideCommand(command, list)).toMatchObject({ verdict: 'deny' });
  });

  test.each([
    'TIMEFORMAT=touch; v=$({ time :; } 2>&1); $v',
    `eval "$( (: \${x?;touch y;}) 2>&1)"`,
    `(: \${x?;touch y;}) |& bash`,
    `v=$( { set -x; : touch; } 2>&1 ); \${v##* }`,
    `x=touch; v=$(declare -p x); v=\${v#*=}; eval $v`,
    `y=(touch) bash -c 'y=\${y#?}; \${y%?}'`,
    'f() { while [ $# -gt 0 ]; do $1; shift; done; }; f : touch',
    "false && trap 'v=:' EXIT; v=touch; trap '$v' EXIT",
  ])('the output or value in %s counts as unknown', (command) => {
    expect(decideCommand(command, list)).toMatchObject({ verdict: 'deny' });
  });

  test.each([
    'n=$(wc -l < f); echo $((n + 1))',
    "awk '{ a[$1]++ } END { for (k in a) print k }' f; n=$(wc -l < f); echo $((n + 1))",
    'grep -c "[0-9]$(date +%Y)" f; echo $((COUNT + 1))',
    'total=0; for n in 1 2 3; do total=$((total + n)); done; echo "$total"',
    'f() { local n=$1; echo $((n * 2)); }; f 4',
    'set -- 1 2 3; while [ $# -gt 0 ]; do echo $(($1 + 1)); shift; done',
  ])('%s is allowed', (command) => {
    const everyday = [...list, 'wc', 'awk', 'grep', 'date'];
    expect(decideCommand(command, everyday)).toMatchObject({ verdict: 'allow' });
  });
});

test('P4: an assignment keeps the newlines of the arguments that it joins', () => {
  const script = 'set -- 1 "a[\\$(set --\nnice \\$1 touch x\n)]"\nv=$' + '{*:2}\nlet v';
  expect(decideCommand(script, ['nice', 'set', 'let']).verdict).toBe('deny');
});
