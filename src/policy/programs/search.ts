import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, type Piece, prefixOf, toArg, unknown } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import { refused, startOptions, unknownAmong, unknownOptions, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Programs that search files, such as `grep`, `fd` and `rg`, and the programs that their options start. */
export const searchPrograms: readonly ProgramEntry[] = [
  {
    names: ['fd', 'fdfind'],
    closed: [],
    options: {
      short: 'HIusgiFalL0pd:E:t:e:S:o:x:X:c:j:C:1qhVT:',
      long: `hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex fixed-strings and=
        absolute-path list-details follow full-path print0 max-depth= min-depth= exact-depth= exclude= prune type= extension=
        size= changed-within= changed-before= owner= format= exec= exec-batch= batch-size= ignore-file= color= hyperlink[=]
        threads= max-results= quiet show-errors base-directory= path-separator= search-path= strip-cwd-prefix[=]
        one-file-system gen-completions[=] help version newer= older= change-newer-than= change-older-than= changed-after=
        no-hidden ignore ignore-vcs ignore-parent no-follow relative-path no-global-ignore-file no-require-git require-git
        maxdepth= case-insensitive`.replace(/\s+/g, ' '),
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
      short: 'A:B:C:d:e:E:f:g:j:m:M:r:t:T:aFiIlLnNoPpqsSuUvVwxzcHh0bG.',
      long: `pre= pre-glob= hostname-bin= regexp= file= glob= iglob= type= type-not= type-add= type-clear= max-count= context=
        after-context= before-context= replace= max-depth= encoding= engine= threads= sort= sortr= color= colors= pager=
        filter= view= save-config[=] ignore-file= search-zip files stats json pcre2 passthru multiline pretty path-to-ignore=
        ignore= depth= hidden no-ignore files-with-matches null column heading print0 type-list auto-hybrid-regex binary
        block-buffered byte-offset case-sensitive column context-separator= count count-matches crlf debug dfa-size-limit=
        field-context-separator= field-match-separator= files-without-match fixed-strings follow glob-case-insensitive
        generate= help hyperlink-format= ignore-case ignore-file-case-insensitive include-zero invert-match line-buffered
        line-number line-regexp max-columns= max-columns-preview max-filesize= mmap multiline-dotall no-auto-hybrid-regex
        no-binary no-block-buffered no-column no-config no-context-separator no-crlf no-encoding no-filename no-fixed-strings
        no-follow no-glob-case-insensitive no-heading no-hidden no-ignore-dot no-ignore-exclude
        no-ignore-file-case-insensitive no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs
        no-include-zero no-invert-match no-json no-line-buffered no-line-number no-max-columns-preview no-messages no-mmap
        no-multiline no-multiline-dotall no-one-file-system no-pcre2 no-pcre2-unicode no-pre no-require-git no-search-zip
        no-sort-files no-stats no-text no-trim no-unicode null-data one-file-system only-matching path-separator=
        pcre2-version pcre2-unicode quiet regex-size-limit= require-git smart-case sort-files stop-on-nonmatch text trace trim
        unicode unrestricted version vimgrep with-filename word-regexp no-ignore-file colour`.replace(
        /\s+/g,
        ' ',
      ),
    },
    effects: allOf(
      (call) => (call.name === 'rg' ? unknownOptions(call) : []),
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
      short: 'A:B:C:m:t:T:p:PfgilLncowvxHhsk1rRSIQ',
      long: `pager[=] nopager output= type= type-add= type-set= ackrc= noenv ignore-dir= files-from= color nocolor match=
        context[=] files-with-matches files-without-matches count ignore-case smart-case nosmart-case no-smart-case
        no-ignore-case invert-match word-regexp literal range-start= range-end= passthru max-count= with-filename no-filename
        column nocolumn no-column after-context= before-context= print0 heading noheading no-heading break nobreak no-break
        group nogroup proximate= underline nounderline no-underline colour nocolour no-color no-colour color-filename=
        color-match= color-colno= color-lineno= help-colors help-rgb-colors flush sort-files show-types noignore-dir=
        ignore-directory= noignore-directory= ignore-file= recurse no-recurse follow nofollow no-follow known-types help-types
        type-del= version env no-env ignore-ack-defaults create-ackrc dump filter nofilter no-filter help man thpppt bar cathy
        cc cpp css go html java js json md perl php python ruby rust shell sql ts typescript xml yaml`.replace(
        /\s+/g,
        ' ',
      ),
    },
    effects: allOf(
      unknownOptions,
      startOptions('pager'),
      refuseOptions({ ackrc: 'names a file whose settings can run programs' }),
      (call) =>
        call.options
          .values('output')
          .filter(({ text }) => /[@`({]/.test(text ?? '@'))
          .map((at) => refused(call, '--output evaluates an expression of Perl', at)),
    ),
    runs: [['ack --pager=touch foo', 'touch'], 'ack --ackrc=./x foo', "ack --output='@{[system(1)]}' foo"],
    harmless: ["ack 'foo|bar' src", 'ack -l --type=perl foo', "ack --output='$1' foo", 'ack --nopager foo'],
  },
  {
    names: ['tree'],
    closed: [],
    options: { short: 'o:', long: 'output=' },
    // `tree -oX FILE` writes FILE: the value of `-o` is the next word even inside a cluster.
    effects: allOf(writeOptions('o', 'output'), ({ args }) => {
      const at = args.findIndex(({ text }) => /^-[a-zA-Z]*o[a-zA-Z]/.test(text ?? ''));
      const rest = at < 0 ? [] : args.slice(at + 1).filter((arg) => !prefixOf(arg).startsWith('-'));
      return rest.map((path) => ({ does: 'write', path }) as const);
    }),
    runs: ['tree -o ~/.bashrc', 'tree -oX .envrc'],
    harmless: ['tree -L 2 -I node_modules', 'tree -o out.txt'],
  },
  {
    names: ['fzf', 'sk'],
    closed: ['find'],
    options: {
      short: 'q:f:d:n:emix10+',
      long: `bind= preview= query= filter= delimiter= nth= with-nth= height= layout= reverse multi[=] exact ansi print0 read0
        prompt= header= expect= listen[=] listen-unsafe[=] preview-window= cmd= interactive become= with-shell= history=
        extended scheme= literal tac disabled tiebreak= no-mouse cycle keep-right scroll-off= no-hscroll hscroll-off=
        filepath-word jump-labels= min-height= border[=] border-label= border-label-pos= margin= padding= info= separator=
        no-separator scrollbar[=] no-scrollbar pointer= marker= header-lines= header-first ellipsis= tabstop= color= no-bold
        history-size= preview-label= preview-label-pos= select-1 exit-0 print-query sync version help no-sort sort no-multi
        no-extended no-exact no-color no-info no-clear no-unicode no-input style= gap[=] track tmux[=] wrap highlight-line`.replace(
        /\s+/g,
        ' ',
      ),
    },
    effects: allOf((call) => (call.name === 'fzf' ? unknownOptions(call) : []), fzfEffects),
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
  const exec = options.given.find(({ name }) => /^(?:x|X|exec|exec-batch)$/.test(name))?.index ?? args.length;
  const unrecognised = options.unrecognised.filter((arg) => args.indexOf(arg) < exec);
  const starts = fdStarts(call);
  return [...unknownAmong(call, unrecognised), ...starts];
}

function fdStarts(call: ProgramCall): Effect[] {
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
