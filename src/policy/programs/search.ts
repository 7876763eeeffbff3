import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, type Piece, toArg, unknown } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import { startOptions, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs that search files, such as `grep`, `fd` and `rg`, and the programs that their options start. */
export const searchPrograms: readonly ProgramEntry[] = [
  {
    names: ['fd', 'fdfind'],
    closed: [],
    options: {
      short: 'HIusgiFalL0pd:E:t:e:S:o:x:X:c:j:C:1qhVT:',
      long: 'hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex fixed-strings and= absolute-path list-details follow full-path print0 max-depth= min-depth= exact-depth= exclude= prune type= extension= size= changed-within= changed-before= owner= format= exec= exec-batch= batch-size= ignore-file= color= hyperlink[=] threads= max-results= quiet show-errors base-directory= path-separator= search-path= strip-cwd-prefix[=] one-file-system gen-completions[=] help version',
    },
    effects: fdEffects,
    runs: [
      ['fd -e bak -x touch', 'touch'],
      ['fd -x touch {}', 'touch'],
      ['fd foo -X touch', 'touch'],
      ['fd --exec touch {} \\; -e c', 'touch'],
      ['fd --exec-batch touch', 'touch'],
      ['fd --exec=touch', 'touch'],
      ["fd -x sh -c 'touch x' \\;", 'sh', 'touch'],
      "fd -x sh -c '{}'",
      'fd -x {}',
      'fd -Hx $x',
      ['fd . src -x touch', 'touch'],
    ],
    harmless: ["fd -e ts 'foo.*' src", 'fd -t f -H . src', ['fd -e c -x wc -l', 'wc'], 'fd --max-depth 2'],
  },
  {
    names: ['rg', 'ripgrep', 'ugrep', 'ug', 'ag', 'pt'],
    closed: ['brotli', 'bzip2', 'compress', 'gzip', 'lz4', 'lzma', 'xz', 'zstd'],
    options: {
      short: 'A:B:C:d:e:E:f:g:j:m:M:r:t:T:aFiIlLnNoPpqsSuUvVwxzcHh0bG',
      long: 'pre= pre-glob= hostname-bin= regexp= file= glob= iglob= type= type-not= type-add= type-clear= max-count= context= after-context= before-context= replace= max-depth= encoding= engine= threads= sort= sortr= color= colors= pager= filter= view= save-config[=] ignore-file= search-zip files stats json pcre2 passthru multiline pretty path-to-ignore= ignore= depth= hidden no-ignore files-with-matches null column heading print0 type-list',
    },
    effects: allOf(
      startOptions('pre', 'hostname-bin', 'pager', 'view'),
      refuseOptions({ filter: 'runs a program for every file' }),
    ),
    runs: [
      ['rg --pre touch foo', 'touch'],
      ['rg --pre=touch foo', 'touch'],
      ['rg --hostname-bin ./x foo'],
      ['ag --pager touch foo', 'touch'],
      'rg --pre "$x" foo',
      "ugrep --filter='pdf:touch' foo",
    ],
    harmless: [
      "rg -n 'a|b;c' src",
      "rg --type ts -g '!*.d.ts' foo",
      'rg -l foo',
      "rg --pre-glob '*.pdf' foo",
      'ag -l foo src',
      'rg --pretty foo',
      "rg -e '--pre' x",
      'rg -- --pre x',
    ],
  },
  {
    names: ['ack'],
    closed: ['less'],
    options: {
      short: 'A:B:C:m:fgilLncowvxHhsk1',
      long: 'pager[=] nopager output= type= type-add= type-set= ackrc= noenv ignore-dir= files-from= color nocolor match= context[=]',
    },
    effects: allOf(
      startOptions('pager'),
      refuseOptions({ ackrc: 'takes settings that run programs from a file' }),
    ),
    runs: [['ack --pager=touch foo', 'touch'], 'ack --ackrc=./x foo'],
    harmless: ["ack 'foo|bar' src", 'ack -l --type=perl foo', "ack --output='$1' foo", 'ack --nopager foo'],
  },
  {
    names: ['tree'],
    closed: [],
    options: { short: 'o:', long: 'output=' },
    effects: writeOptions('o', 'output'),
    runs: ['tree -o ~/.bashrc'],
    harmless: ['tree -L 2 -I node_modules', 'tree -o out.txt'],
  },
  {
    names: ['fzf', 'sk'],
    closed: ['find'],
    options: {
      short: 'q:f:d:n:emix',
      long: 'bind= preview= query= filter= delimiter= nth= with-nth= height= layout= reverse multi exact ansi print0 read0 prompt= header= expect= listen[=] listen-unsafe[=] preview-window= cmd= interactive become= with-shell= history=',
    },
    effects: fzfEffects,
    runs: [
      ["fzf --preview 'touch {}'", 'touch'],
      ["fzf --bind 'enter:execute(touch {})'"],
      "fzf --bind='start:become(touch x)'",
      'fzf --listen-unsafe',
      ["sk --cmd 'touch {}'", 'touch'],
      "fzf --with-shell='./x'",
    ],
    harmless: ['fzf -f foo', ["fzf --preview 'cat {}'", 'cat'], "fzf --bind 'ctrl-a:select-all'"],
  },
];

/** `fd -x`: the words up to `;` are a program, to which the found paths are appended. */
function fdEffects(call: ProgramCall): Effect[] {
  const { options, args } = call;
  return options.given
    .filter(({ name }) => /^(?:x|X|exec|exec-batch)$/.test(name))
    .map(({ value, at, index }): Effect => {
      const rest = args.slice(index + (value !== undefined && args[index + 1] === value ? 2 : 1));
      const end = rest.findIndex((arg) => arg.text === ';');
      const words = [...(value === undefined ? [] : [value]), ...(end < 0 ? rest : rest.slice(0, end))];
      const argv = words.map((word) => withFound(word, foundBy(call)));
      const holds = words.some((word) => placeholder.test(word.text ?? ''));
      return argv.length === 0
        ? { does: 'unknown', at, reason: `which program ${call.name} would start cannot be known` }
        : { does: 'start', argv: holds ? argv : [...argv, toArg(foundBy(call), at)], stdin: 'none' };
    });
}

const placeholder = /\{(?:|\/|\/\/|\.|\/\.)\}/;

/** True if the pattern matches everything below a path. */
function foundBy({ options }: ProgramCall): readonly Piece[] {
  const [pattern, path] = options.operands;
  const selective = !/^\.?\*?$/.test(pattern?.text ?? 'x') || options.has('e', 'extension');
  return path === undefined || selective ? [unknown] : path.pieces;
}

function withFound(word: Arg, found: readonly Piece[]): Arg {
  const text = word.text;
  if (text === undefined || !placeholder.test(text)) return word;
  const parts = text.split(/\{(?:|\/|\/\/|\.|\/\.)\}/);
  return toArg(
    parts.flatMap((part, index) => (index > 0 ? [...found, part] : [part])),
    word,
  );
}

function fzfEffects(call: ProgramCall): Effect[] {
  const { options, name } = call;
  const binds = options
    .values('bind')
    .filter((bind) =>
      /(?:execute|become|reload|transform|preview|unbind-all|execute-silent|change-preview)[^,]{0,40}[(:[{~!@#$%^&*;/|]/.test(
        bind.text ?? 'execute(',
      ),
    );
  return [
    ...options.values('preview').map((text): Effect => ({ does: 'shell', text: previewText(text) })),
    ...options.values('cmd').map((text): Effect => ({ does: 'shell', text })),
    ...binds.map((at): Effect => ({ does: 'refuse', at, reason: `${name} --bind runs a command` })),
    ...refuseOptions({
      'listen-unsafe': 'lets others run commands',
      'with-shell': 'chooses what runs',
      become: 'runs a command',
    })(call),
  ];
}

/** `fzf` quotes the text that it substitutes for `{}`. */
function previewText(text: Arg): Arg {
  if (text.text === undefined) return text;
  const filled = text.text.replace(/\{[^{}]*\}/g, 'line');
  return { ...text, text: filled, pieces: [filled] };
}
