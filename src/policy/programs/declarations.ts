import type { ProgramCall } from '../options/program-call.ts';
import {
  type Arg,
  knownArg,
  type Made,
  prefixOf,
  textBehind,
  withoutPrefix,
  wordText,
} from '../words/arg.ts';
import { foreignOutput, type Stdin } from '../words/output.ts';
import type { Effect, ProgramEntry, VariableAttributes } from './program.ts';

/** Builtins that set variables: `export`, `declare`, `read`, `mapfile`, `printf -v` … */
export const declarationPrograms: readonly ProgramEntry[] = [
  {
    names: ['declare', 'typeset', 'local', 'export', 'readonly'],
    builtin: 'only',
    effects: declareEffects,
    runs: [
      'export PATH=.',
      'declare -x LD_PRELOAD=./x.so',
      "declare 'a[$(touch x)]=1'",
      "declare -i n='a[$(touch x)]'",
      "declare -i n; n='a[$(touch x)]'",
      "declare -n r='a[$(touch x)]'; r=1",
      'export "$x"',
      'export GIT_SSH_COMMAND=./x',
      'declare -n r=PATH; r=.',
      "declare -a 'x=($(touch y))'",
      'x=\'y=($(touch z))\'; declare -a "$x"',
      'readonly PAGER=./x',
      'readonly v=touch; declare v=:; $v',
      'declare -l v=DECLARE; $v',
      'declare -u v; v=declare; $v',
      'v=touch; local v=:; $v',
      "declare -i n=x; v='a[$(touch x)]'; declare n+=v",
    ],
    harmless: [
      'export A=1 B="$x"',
      'declare -a list=(1 2)',
      'declare -A m',
      'local x=1',
      'declare -p',
      'export NODE_ENV=production',
      'declare -f',
      'export -p',
    ],
  },
  {
    names: ['unset'],
    builtin: 'only',
    effects: ({ args }) =>
      args
        .filter((arg) => !/^-[fvn]+$/.test(wordText(arg)))
        .map(
          (name) =>
            ({ does: 'unset', name, what: args[0]?.text === '-f' ? 'function' : 'variable' }) as const,
        ),
    runs: ["unset 'a[$(touch x)]'", 'unset PATH', 'unset "$x"'],
    harmless: ['unset x y', 'unset -f f', "unset 'a[1]'"],
  },
  {
    names: ['read'],
    builtin: 'only',
    options: { short: 'rsea:d:i:n:N:p:t:u:' },
    effects: readEffects,
    runs: [
      "read 'a[$(touch x)]'",
      'read PATH',
      'read -r "$x"',
      'read cmd <<< touch; $cmd x',
      'IFS=: read a b <<< x:touch; $b',
      "read x <<< 'a[$(touch y)]'; ((x))",
      "read x <<< $'a[$(touch \\\\\\n y)]'; ((x))",
      'read -a LD_PRELOAD',
    ],
    harmless: [
      'read -r line',
      'read -p "Name: " -r name',
      'while IFS= read -r a b; do :; done < file',
      'read',
    ],
  },
  {
    names: ['mapfile', 'readarray'],
    builtin: 'only',
    options: { short: 'd:n:O:s:tu:C:c:' },
    effects: mapfileEffects,
    runs: [["mapfile -C 'touch x' -c 1 a", 'touch'], 'mapfile PATH'],
    harmless: ['mapfile -t lines < file', 'readarray -t a'],
  },
  {
    names: ['getopts'],
    builtin: 'only',
    effects: ({ args: [, name, ...words], self }) => [
      ...(name === undefined ? [] : [{ does: 'assign', name } as const]),
      words.length === 0
        ? { does: 'assign', name: knownArg('OPTARG', self), fromArguments: true }
        : {
            does: 'assign',
            name: knownArg('OPTARG', self),
            uncertain: words.map(behindWord).join(' '),
            made: 'parts',
          },
    ],
    runs: [
      "getopts ab 'x[$(touch y)]'",
      'getopts a PATH',
      "getopts a: o -a 'x[$(touch y)]'; (( OPTARG ))",
      "set -- -a 'x[$(touch y)]'; getopts a: o; (( OPTARG ))",
    ],
    harmless: ['while getopts "ab:" opt; do :; done'],
  },
  {
    names: ['wait'],
    builtin: 'only',
    options: { short: 'fnp:' },
    effects: ({ options }) => options.values('p').map((name) => ({ does: 'assign', name }) as const),
    runs: ["wait -n -p 'a[$(touch x)]'", 'wait -p PATH'],
    harmless: ['wait', 'wait -n', 'wait "$pid"'],
  },
];

function declareEffects({ args, name }: ProgramCall): Effect[] {
  let flags = '';
  const words: Arg[] = [];
  for (const arg of args) {
    const text = wordText(arg);
    if (!/^[-+]/.test(text) || !/^[-+][A-Za-z]+$|^--$/.test(text)) words.push(arg);
    else if (text.startsWith('-') && text !== '--') flags += text.slice(1);
  }
  if (/f/i.test(flags))
    return name === 'export' || flags.includes('x')
      ? words.map((word) => ({ does: 'exportFunction', name: word }) as const)
      : [];
  const attributes: VariableAttributes = {
    exported: name === 'export' || flags.includes('x'),
    local: (name === 'local' || name === 'declare' || name === 'typeset') && !flags.includes('g'),
    integer: flags.includes('i'),
    recased: /[luc]/.test(flags),
    nameref: flags.includes('n') && name !== 'export',
    readonly: name === 'readonly' || flags.includes('r'),
    global: flags.includes('g'),
    array: flags.includes('A') ? 'associative' : flags.includes('a') ? 'indexed' : undefined,
  };
  return words.flatMap((word) => declared(word, attributes));
}

const assignment = /^([A-Za-z_]\w*(?:\[[^\]]*\])?)(\+?=)/;

function declared(word: Arg, attributes: VariableAttributes): Effect[] {
  const match = assignment.exec(prefixOf(word));
  const [whole, name, sign] = [match?.[0], match?.[1], match?.[2]];
  if (whole !== undefined && name !== undefined) {
    const value = withoutPrefix(word, whole.length);
    // bash parses a quoted list a second time: `declare -a 'x=($(y))'`.
    const list: Effect[] = prefixOf(value).startsWith('(')
      ? [{ does: 'evaluate', text: value, as: 'prompt' }]
      : [];
    const evaluated: Effect[] = attributes.integer
      ? [{ does: 'evaluate', text: value, as: 'arithmetic' }]
      : [];
    const assigned: Effect = {
      does: 'assign',
      name: knownArg(name, word),
      value: sign === '=' ? value : undefined,
      appended: sign === '=' ? undefined : value,
      attributes,
    };
    return [...list, ...evaluated, assigned];
  }
  if (word.text === undefined) return [{ does: 'assign', name: word, attributes }];
  return namedOnly(word, attributes);
}

/** `export NAME` and `declare -i NAME` change the attributes of a variable, not its value. */
function namedOnly(word: Arg, attributes: VariableAttributes): Effect[] {
  return [
    { does: 'evaluate', text: word, as: 'name' },
    { does: 'mark', name: wordText(word), attributes },
  ];
}

/** The text of a word, or the text that it is derived from. */
function behindWord({ pieces }: Arg): string {
  return pieces.map(textBehind).join('');
}

/** The text that a variable may get from stdin, completely or in part. */
function textRead(stdin: Stdin): string {
  return stdin === 'none' ? '' : stdin.text + (stdin.from ?? '');
}

function madeBy(stdin: Stdin): Made | undefined {
  return stdin === 'none' ? undefined : stdin.more ? stdin.made : 'parts';
}

function isOperandText(stdin: Stdin): boolean | undefined {
  return stdin !== 'none' && stdin.operand === true ? true : undefined;
}

/** Options of `read` that can end a value in the middle of a line: `-d`, `-n`, `-N`. */
const cutting = /^[dnN]$/;

/** The value that `read` assigns also depends on IFS, backslashes and earlier reads, so the text is only a guess. */
function cutsInput({ options }: ProgramCall): boolean {
  return options.given.some(({ name, value }) => cutting.test(name) && value?.text !== '');
}

function mapfileEffects(call: ProgramCall): Effect[] {
  const { options, self } = call;
  const stdin = inputOf(call);
  return [
    ...options.values('C').map((text) => ({ does: 'eval', text, later: 'between' }) as const),
    {
      does: 'assign',
      name: options.operands[0] ?? knownArg('MAPFILE', self),
      uncertain: textRead(stdin),
      made: options.has('d') && madeBy(stdin) === 'parts' ? 'any' : madeBy(stdin),
      // After another delimiter than a line break, an entry may begin with a dash.
      operand: options.values('d').every(({ text }) => /^\n?$/.test(text ?? 'a'))
        ? isOperandText(stdin)
        : undefined,
    },
  ];
}

/** The input of `read` and `mapfile`; with `-u 3` it is not stdin. */
function inputOf({ options, stdin, inputs }: ProgramCall): Stdin {
  const descriptor = options.last('u');
  if (descriptor === undefined || descriptor.text === '0') return stdin;
  // Other commands may have read a part of it.
  const input = inputs.get(wordText(descriptor));
  return input === undefined ? foreignOutput : { ...foreignOutput, text: input.text };
}

function readEffects(call: ProgramCall): Effect[] {
  const { options, self } = call;
  const stdin = inputOf(call);
  const uncertain = textRead(stdin);
  const isCut = cutsInput(call);
  // If IFS is unknown, assume a letter, the worst case.
  const { separators = 'a' } = call;
  const made = (isCut || /\w/.test(separators)) && madeBy(stdin) === 'parts' ? 'any' : madeBy(stdin);
  const operand = isCut || /\S/.test(separators) ? undefined : isOperandText(stdin);
  // The next `read` may get the rest of the line, which may begin with a dash.
  const cutsNames = isCut && stdin !== 'none' && stdin.more && stdin.operand === true;
  if (cutsNames || (isCut && made === 'any' && /-[\w-]/.test(uncertain)))
    return [{ does: 'unknown', at: self, reason: 'the places where read splits its input are not known' }];
  const list = options
    .values('a')
    .map((name): Effect => ({ does: 'assign', name, uncertain, made, operand }));
  if (list.length > 0) return list;
  const names = options.operands.length === 0 ? [knownArg('REPLY', self)] : options.operands;
  const lines = stdin === 'none' || stdin.more ? [] : stdin.text.split('\n').filter((line) => line !== '');
  const [line] = lines;
  if (line === undefined || lines.length > 1)
    return names.map((name) => ({ does: 'assign', name, uncertain, made, operand }));
  const words = line.trim().split(/\s+/);
  return names.map((name, index) => {
    const text = index === names.length - 1 ? words.slice(index).join(' ') : (words[index] ?? '');
    return { does: 'assign', name, value: knownArg(text, self), uncertain, made };
  });
}
