import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, foreignText, knownArg, ownText, toArg, wordText } from '../words/arg.ts';
import { everyVariable } from '../words/every-variable.ts';
import { hiddenGlobOptions, parsingOptions } from '../words/parsing-options.ts';
import { joinWords } from './effects.ts';
import { ownInput } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { scriptIn } from './script-file.ts';

/** Shell builtins that run, define or evaluate something: `eval`, `source`, `alias`, `trap` … */
export const builtinPrograms: readonly ProgramEntry[] = [
  {
    names: ['eval'],
    builtin: 'only',
    effects: (call) => [
      {
        does: 'eval',
        text: joinWords(call.args[0]?.text === '--' ? call.args.slice(1) : call.args, call.self),
      },
    ],
    runs: [
      ["eval 'touch x'", 'touch'],
      ['eval touch x', 'touch'],
      'eval "$x"',
      ['x=touch; eval "$x y"', 'touch'],
      'eval "ls $(cat x)"',
      "eval 'PATH=.'",
    ],
    harmless: [["eval 'ls -l'", 'ls'], 'eval "x=1"', 'eval'],
  },
  {
    names: ['source', '.'],
    builtin: 'only',
    effects: sourceEffects,
    runs: [
      ['source <(echo touch x)', 'echo', 'touch'],
      ["source /dev/stdin touch <<< '$1 x'", 'touch'],
      ["source /dev/stdin <<< 'touch x'", 'touch'],
      'source <(curl x)',
      '. /dev/fd/3',
    ],
    harmless: ['source ./env.sh', '. venv/bin/activate', 'source "$HOME/.nvm/nvm.sh"', '. "$NVM_DIR/nvm.sh"'],
  },
  {
    names: ['trap'],
    builtin: 'only',
    options: { short: 'lpP' },
    effects: ({ options }) => {
      const [action, ...signals] = options.operands;
      return action === undefined || signals.length === 0 || action.text === '-'
        ? []
        : [{ does: 'eval', text: action, later: signals.every(isExit) ? 'atExit' : 'between' }];
    },
    runs: [
      ["trap 'touch x' EXIT", 'touch'],
      ['trap -- "touch x" INT TERM', 'touch'],
      'trap "$x" EXIT',
      "v=:; trap 'v=touch' DEBUG; $v",
      "v=touch; trap '$v' DEBUG; v=:",
    ],
    harmless: [
      "trap '' INT",
      'trap - EXIT',
      'trap -p',
      ["trap 'ls' EXIT", 'ls'],
      'trap cleanup EXIT; cleanup() { exit; }',
    ],
  },
  {
    names: ['command'],
    builtin: 'only',
    options: { short: 'pvV', stop: true },
    effects: ({ options }) =>
      options.has('v', 'V') ? [] : [{ does: 'start', argv: options.operands, inShell: true }],
    runs: [
      ['command touch x', 'touch'],
      ['command -p -- touch x', 'touch'],
      ["command eval 'touch x'", 'eval', 'touch'],
      'command $x',
    ],
    harmless: ['command -v touch', ['command ls', 'ls'], 'command -V ls', 'command cd /tmp'],
  },
  {
    names: ['builtin'],
    builtin: 'only',
    effects: ({ args }) => [
      { does: 'start', argv: args[0]?.text === '--' ? args.slice(1) : args, inShell: true },
    ],
    runs: [
      ["builtin eval 'touch x'", 'eval', 'touch'],
      ['builtin echo x', 'echo'],
    ],
    harmless: ['builtin cd /tmp'],
  },
  {
    names: ['exec'],
    builtin: 'only',
    options: { short: 'cla:', stop: true },
    effects: ({ options }) =>
      options.operands.length === 0 ? [] : [{ does: 'start', argv: options.operands }],
    runs: [['exec touch x', 'touch'], ['exec -a ls touch x', 'touch'], 'exec $x'],
    harmless: ['exec 3>log', 'exec > out.log 2>&1', ['exec ls', 'ls']],
  },
  {
    names: ['cd', 'pushd'],
    builtin: 'only',
    effects: chdirEffects,
    runs: ['pushd "$(touch x)"'],
    harmless: ['cd /tmp && cd .. && cd -', 'cd'],
  },
  {
    names: ['popd'],
    builtin: 'only',
    effects: () => [{ does: 'chdir', path: undefined, back: 'stack' }],
    runs: ['popd "$(touch x)"'],
    harmless: ['popd'],
  },
  {
    names: ['let'],
    builtin: 'only',
    effects: letEffects,
    runs: ["let 'a[$(touch x)]=1'", "y='b[$(touch x)]'; let z=y", 'let PATH=1'],
    harmless: ['let i++', "let 'x = 1 + 2' y=3"],
  },
  {
    names: ['test', '['],
    closed: [],
    effects: ({ args }) =>
      args.flatMap((arg, index) =>
        args[index - 1]?.text === '-v' || args[index - 1]?.text === '-R'
          ? [{ does: 'evaluate', text: arg, as: 'name' } as const]
          : [],
      ),
    runs: ["[ -v 'a[$(touch x)]' ]", "test -v 'a[$(touch x)]'"],
    harmless: ['[ -f "$x" ]', 'test "$a" = b', "[ -v 'a[1]' ]", "[ '$(touch x)' = y ]"],
  },
  {
    names: ['set'],
    builtin: 'only',
    effects: setEffects,
    runs: [
      'set -- touch x; "$@"',
      'set "$(touch x)"',
      'set -k; test LD_PRELOAD=./x.so',
      'set -ek',
      'set -o posix',
      'set -eo keyword',
      'set -eH',
      'set -o history -o histexpand',
      'set -a; GH_BROWSER=./x',
      'set -eao pipefail; FZF_DEFAULT_COMMAND=touch',
    ],
    harmless: [
      'set -euo pipefail',
      'set +x',
      'set +H',
      'set +o histexpand',
      'set -a; GH_TOKEN=x; set +a',
      ['set -- -l; ls "$@"', 'ls'],
    ],
  },
  {
    names: ['shift'],
    builtin: 'only',
    effects: ({ args }) => [{ does: 'positional', args: args.length === 0 ? 'shift' : 'unknown' }],
    runs: ['set -- a touch; shift; "$@"', 'set -- : : touch; shift 2; "$1"'],
    harmless: ['shift', 'shift 2'],
  },
  {
    names: ['shopt'],
    builtin: 'only',
    effects: ({ args, self }) =>
      args.some((arg) => arg.text === undefined || parsingOptions.has(arg.text))
        ? [{ does: 'refuse', at: self, reason: 'this option changes how the shell reads what follows' }]
        : args.some(({ text }) => hiddenGlobOptions.has(text ?? ''))
          ? [{ does: 'matchHidden' }]
          : [],
    runs: [
      'shopt -s lastpipe',
      'shopt -s extdebug',
      'shopt -s nullglob xpg_echo',
      'shopt -so posix',
      'shopt -s "$x"',
    ],
    harmless: ['shopt -s nullglob globstar extglob', 'shopt', 'shopt -u dotglob'],
  },
  {
    names: ['alias'],
    builtin: 'only',
    effects: ({ args }) => args.flatMap(aliasEffect),
    runs: [
      ["alias ll='touch x'", 'touch'],
      ['alias ls=touch; ls x', 'ls', 'touch'],
      'alias "$x"',
      "alias a='x; $y'",
    ],
    harmless: ['alias', 'alias ll', ["alias ll='ls -l'", 'ls']],
  },
  {
    names: ['hash'],
    builtin: 'only',
    options: { short: 'lrp:dt' },
    effects: ({ options, self }) =>
      options.has('p')
        ? [
            { does: 'refuse', at: self, reason: 'hash -p chooses which file a name runs' },
            ...options
              .values('p')
              .flatMap((text) =>
                options.operands.map((name) => ({ does: 'alias', name: name.text ?? '', text }) as const),
              ),
          ]
        : [],
    runs: ['hash -p ./evil ls', 'hash -rp ./evil ls'],
    harmless: ['hash -r', 'hash'],
  },
  {
    names: ['enable'],
    builtin: 'only',
    options: { short: 'adnpsf:' },
    effects: ({ options, self }) =>
      options.has('f')
        ? [{ does: 'refuse', at: self, reason: 'enable -f loads code' }]
        : options.has('n') && options.operands.length > 0
          ? [{ does: 'refuse', at: self, reason: 'enable -n gives the name of a builtin to a program' }]
          : [],
    runs: ['enable -f ./x.so x', 'enable -nf ./x.so x', 'enable -n test'],
    harmless: ['enable -a', 'enable -n', 'enable test'],
  },
  {
    names: ['jobs'],
    builtin: 'only',
    options: { short: 'lnprsx', stop: true },
    effects: ({ options }) => (options.has('x') ? [{ does: 'start', argv: options.operands }] : []),
    runs: [['jobs -x touch x', 'touch']],
    harmless: ['jobs -l'],
  },
  {
    names: ['fc'],
    builtin: 'only',
    effects: ({ args, self }) =>
      args.some((arg) => /^-[lnr]*l/.test(wordText(arg)))
        ? []
        : [{ does: 'unknown', at: self, reason: 'fc runs commands of the history' }],
    runs: ['fc', 'fc -s', 'fc -e vi 1 2'],
    harmless: ['fc -l'],
  },
  {
    names: ['history'],
    builtin: 'only',
    options: { short: 'cd:anrwps' },
    effects: ({ options }) =>
      options.has('a', 'w') ? options.operands.map((path): Effect => ({ does: 'write', path })) : [],
    runs: ['history -w .git/config', 'history -a ~/.bashrc'],
    harmless: ['history', 'history 20', 'history -c', 'history -w out.txt'],
  },
  {
    names: ['bind', 'complete', 'compgen'],
    builtin: 'only',
    options: { short: 'lpsvPSVXDEIrabcdefgjkuxm:q:u:f:x:o:A:G:W:F:C:P:S:' },
    effects: completionEffects,
    runs: ['bind -x \'"a":touch x\'', 'complete -C touch ls', "compgen -W '$(touch x)'", 'compgen -C touch'],
    harmless: ['compgen -c', "compgen -W 'a b' a", 'bind -p'],
  },
];

function isExit(signal: Arg): boolean {
  return /^(?:EXIT|0)$/i.test(wordText(signal));
}

function sourceEffects(call: ProgramCall): Effect[] {
  const [file, ...rest] = call.args[0]?.text === '--' ? call.args.slice(1) : call.args;
  if (file === undefined) return [];
  const script = scriptIn(call, file);
  if (script === 'file') return [];
  const own = rest.length > 0 ? { args: rest } : {};
  if (script !== 'unknown') return [{ does: 'eval', text: script, ...own }];
  const reason = `the text that ${call.name} would run cannot be known`;
  return [{ does: 'unknown', at: file, reason, own: ownText(file.pieces[0]) ?? ownInput(call.stdin) }];
}

function chdirEffects({ args, home, self, name }: ProgramCall): Effect[] {
  const words = args.filter((arg) => !/^-[LPe@n]+$|^--$/.test(wordText(arg)));
  const [path] = words;
  // `pushd -n` changes only the stack.
  if (name === 'pushd' && args.some(({ text }) => text === '-n'))
    return [{ does: 'chdir', path: undefined, back: 'stack' }];
  if (path === undefined)
    return [
      name === 'cd'
        ? { does: 'chdir', path: knownArg(home, self) }
        : { does: 'chdir', path: undefined, back: 'stack' },
    ];
  if (!/^[-+]\d*$/.test(wordText(path))) return [{ does: 'chdir', path }];
  return [{ does: 'chdir', path: undefined, back: wordText(path) === '-' ? 'previous' : 'stack' }];
}

function letEffects({ args }: ProgramCall): Effect[] {
  return args.flatMap((arg): Effect[] => {
    const name = /^\s*([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:[-+*/%&|^]|<<|>>)?=(?!=)/.exec(
      wordText(arg),
    )?.[1];
    const evaluated: Effect = { does: 'evaluate', text: withSigns(arg), as: 'arithmetic' };
    return name === undefined ? [evaluated] : [evaluated, { does: 'assign', name: knownArg(name, arg) }];
  });
}

/** In `let x=2*3` the sign is a glob that matches no file. */
function withSigns(arg: Arg): Arg {
  if (arg.text !== undefined) return arg;
  const pieces = arg.pieces.map((piece) =>
    typeof piece === 'object' && piece.hole === 'glob' && piece.from === foreignText ? piece.text : piece,
  );
  return toArg(pieces, arg, arg.many);
}

function setEffects({ args }: ProgramCall): Effect[] {
  const end = args.findIndex(
    (arg, index) => !/^[-+]/.test(wordText(arg)) && !/^[-+]\w*o$/.test(wordText(args[index - 1])),
  );
  const dashes = args.findIndex((arg) => arg.text === '--');
  const at = args
    .slice(0, dashes < 0 ? undefined : dashes)
    .find((arg, index) => changesReading(wordText(arg), wordText(args[index - 1])));
  if (at !== undefined)
    return [{ does: 'refuse', at, reason: 'this option changes how the shell reads what follows' }];
  const options = args.slice(0, dashes < 0 ? (end < 0 ? undefined : end) : dashes);
  const all: Effect[] = options.some((arg) => exportsAll.test(wordText(arg)))
    ? [{ does: 'mark', name: everyVariable, attributes: { exported: true } }]
    : [];
  if (dashes >= 0 && (end < 0 || dashes < end))
    return [...all, { does: 'positional', args: args.slice(dashes + 1) }];
  return end < 0 ? all : [...all, { does: 'positional', args: args.slice(end) }];
}

const exportsAll = /^(?:-[b-zA-Z]*a[a-zA-Z]*|allexport)$/;

/**
 * Returns true for options of `set` that change how the rest of the script is read, such as `posix`. With `-H` (`histexpand`), `!!` is
 * replaced by the line before.
 */
function changesReading(word: string, before: string): boolean {
  if (word === 'histexpand') return !/^\+\w*o$/.test(before);
  return /^-[a-zA-Z]*[kH]/.test(word) || parsingOptions.has(word);
}

function aliasEffect(arg: Arg): Effect[] {
  const first = arg.pieces[0];
  const [whole, name] = (typeof first === 'string' && /^([^=\s]+)=/.exec(first)) || [];
  if (name === undefined || whole === undefined) {
    return arg.text === undefined
      ? [{ does: 'unknown', at: arg, reason: 'which alias would be defined cannot be known' }]
      : [];
  }
  const rest = [typeof first === 'string' ? first.slice(whole.length) : '', ...arg.pieces.slice(1)];
  const text = arg.text?.slice(whole.length);
  return [{ does: 'alias', name, text: { ...arg, pieces: rest, text } }];
}

function completionEffects({ options, name, args, self }: ProgramCall): Effect[] {
  const runs =
    name === 'bind' ? args.some((arg) => /^-[a-zA-Z]*[xf]/.test(wordText(arg))) : options.has('C', 'F');
  const words = options.values('W').map((text): Effect => ({ does: 'evaluate', text, as: 'prompt' }));
  const refuse: Effect = { does: 'refuse', at: self, reason: `${name} would run code` };
  const started = options.values('C').map((text): Effect => ({ does: 'perhaps', text }));
  return runs ? [refuse, ...started, ...words] : words;
}
