import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import { edActions } from './ed-commands.ts';
import { allOf, refuseOptions } from './effects.ts';
import { type ExAction, exActions } from './ex-commands.ts';
import { dangerIn } from './inline-code.ts';
import {
  refused,
  startOptions,
  stdinText,
  unknownInput,
  unknownOptions,
  writeOptions,
} from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { writesTo } from './written-files.ts';

/** Pagers and editors such as `less` and `vim`, whose commands can start programs. */
export const editorPrograms: readonly ProgramEntry[] = [
  {
    names: [
      ...['less', 'more', 'most', 'pg', 'pager', 'sensible-pager', 'lesspipe', 'lessfile'],
      ...['zless', 'zmore', 'bzless', 'bzmore', 'xzless', 'xzmore'],
    ],
    closed: ['basename', 'bzip2', 'cat', 'gzip', 'less', 'lesspipe', 'more', 'sed', 'stty', 'xz'],
    options: {
      short: 'aABb:cCdD:eEfFgGh:iIj:Jk:KLmMnNo:O:p:P:qQrRsStT:uUVwWx:X~y:z:',
      long: 'log-file= LOG-FILE= lesskey-file= lesskey-src= lesskey-content= tag-file= pattern= prompt= follow-name quit-if-one-screen RAW-CONTROL-CHARS no-init tabs= window= version help HILITE-SEARCH HILITE-UNREAD IGNORE-CASE LINE-NUMBERS LONG-PROMPT QUIET QUIT-AT-EOF SEARCH-SKIP-SCREEN SILENT UNDERLINE-SPECIAL auto-buffers buffers chop-long-lines clean-print clear-screen color dumb exit-on-eof file-size force hilite-search hilite-unread ignore-case incsearch jump-target line-num-width line-numbers lines logical long-prompt max-back-scroll max-forw-scroll mouse no-histdups no-keypad no-lessopen no-pause plain print-over quiet quit-at-eof quit-on-intr quotes raw-control-chars rscroll save-marks search-skip-screen shift silent squeeze squeeze-blank-lines status-col-width status-column tag tilde underline-special use-backslash use-color wheel-lines',
    },
    effects: pagerEffects,
    runs: [
      ["less '+!touch x' a", 'touch'],
      ["less +'|^touch x' a"],
      'less +v a',
      'less --lesskey-src=./x a',
      'less -k ./x a',
      'less -o ~/.bashrc a',
      "more '+!touch x' a",
      "less ++'!touch x' a",
    ],
    harmless: ['less a.txt', 'less +G log', 'less -R +/error log', 'less -N +50 a', 'more a', 'less +F log'],
  },
  {
    names: ['man', 'mandb', 'apropos', 'whatis', 'info', 'pinfo', 'perldoc', 'pydoc', 'pydoc3'],
    closed: [
      ...[
        'col',
        'eqn',
        'groff',
        'grotty',
        'less',
        'locale',
        'manpath',
        'neqn',
        'nroff',
        'pager',
        'preconv',
        'refer',
        'tbl',
      ],
      ...['troff', 'bzip2', 'gzip', 'xz', 'zcat', 'zstd', '/usr/lib/man-db', '/usr/libexec/man-db'],
    ],
    // These programs are written in Perl and Python, and load modules.
    open: ['perldoc', 'pydoc', 'pydoc3'],
    options: {
      short: 'adfkKlwWcDtTZ7P:H::C:L:m:M:S:s:e:iIp:r:R:E:X::uVhnbo:',
      long: 'pager= html[=] browser[=] config-file= preprocessor= locale= systems= manpath= sections= extension= troff ditroff where what-is apropos local-file all prompt= recode= encoding= gxditview[=] help version usage output= dribble= restore= init-file= and ascii catman create debug default exact filename global-apropos ignore-case location location-cat long match-case names-only nh nj no-hyphenation no-justification no-purge no-straycats no-subpages path quiet regex section test troff-device update user-db verbose warnings whatis where-cat wildcard',
    },
    effects: allOf(
      (call) => (/^(?:man|mandb|apropos|whatis)$/.test(call.name) ? unknownOptions(call) : []),
      startOptions('P', 'pager'),
      (call) =>
        call.options
          .values('r', 'prompt')
          .filter(({ text }) => call.name === 'man' && !/^[^$]*$/.test(text ?? '$'))
          .map((at) => refused(call, 'passes what follows a $ in the prompt to less as options', at)),
      refuseOptions({
        C: 'names a file whose settings can run programs',
        'config-file': 'names a file whose settings can run programs',
        'init-file': 'reads settings from a file',
        restore: 'types keys from a file',
      }),
      // Some options have a value in `man` but not in the other programs, so a word may be either a value or an
      // operand.
      ({ args, name }) =>
        args
          .filter((arg) => /^(?:-[a-zA-Z]*C|--co)/.test(prefixOf(arg)) && name !== 'man')
          .map((at) => ({ does: 'refuse', at, reason: `${name} would load settings from a file` }) as const),
      ({ options, name }) =>
        options.given
          .filter((option) => /^(?:H|html|browser)$/.test(option.name) && name === 'man')
          .map(({ at }) => ({ does: 'refuse', at, reason: `${name} -H starts a browser` }) as const),
      ({ options, args, name }) =>
        args
          .filter((arg) => name === 'man' && /^-T.|^--troff-d[a-z-]*=/.test(prefixOf(arg)))
          .filter(({ text }) => !/(?:-T|=)(?:ascii|latin1|utf8|html|xhtml|ps|pdf|dvi|X\d+)$/.test(text ?? ''))
          .concat(
            options
              .values('p', 'preprocessor')
              .filter(({ text }) => name === 'man' && !/^[egprtv-]*$/.test(text ?? '/')),
          )
          .map(
            (at) =>
              ({ does: 'refuse', at, reason: `${name} would load a device that runs programs` }) as const,
          ),
    ),
    runs: [
      ['man -P touch ls', 'touch'],
      ["man --pager='touch x' ls", 'touch'],
      ["man -P'sh -c touch' ls", 'sh', 'touch'],
      'man -Htouch ls',
      "man -r 'x$+!touch y$' ls",
      'man -C ./x ls',
      'mandb -p -C ./x',
      'apropos -r -C ./x y',
      'man --html=touch ls',
      'man -T../x ls',
    ],
    harmless: [
      'man ls',
      'man -k grep',
      'man 3 printf',
      'man -w ls',
      ['man -P cat ls', 'cat'],
      'pydoc json',
      'perldoc -f open',
    ],
  },
  {
    names: ['bat', 'batcat', 'delta', 'diff-so-fancy', 'glow', 'hexyl'],
    closed: ['less'],
    options: {
      short: 'pAnl:H:m:r:fuPhVdLsE:',
      long: `pager= paging= language= style= color= theme= line-range= plain number highlight-line= file-name= map-syntax= wrap=
        diff list-themes list-languages config-file generate-config-file diagnostic tabs= show-all diff-context=
        terminal-width= italic-text= decorations= force-colorization ignored-suffix= unbuffered acknowledgements help version
        squeeze-blank squeeze-limit= strip-ansi= show-nonprintable tab= no-paging no-config no-custom-assets config-dir
        cache-dir no-lessopen lessopen set-terminal-title theme-dark= theme-light= nonprintable-notation= chop-long-lines
        binary= build clear source= target= blank`.replace(/\s+/g, ' '),
    },
    effects: allOf(
      (call) => (/^bat(?:cat)?$/.test(call.name) ? unknownOptions(call) : []),
      startOptions('pager'),
    ),
    runs: [
      'bat --some-new-option a',
      ['bat --pager=touch a', 'touch'],
      ["batcat --pager 'touch x' a", 'touch'],
    ],
    harmless: ['bat -p a.ts', 'bat --paging=never a', ["bat --pager='less -R' a", 'less'], 'delta a b'],
  },
  {
    names: [
      'vim',
      'vi',
      'nvim',
      'view',
      'ex',
      'vimdiff',
      'gvim',
      'rvim',
      'rview',
      'gview',
      'gvimdiff',
      'evim',
      'eview',
      'vimtutor',
      'elvis',
      'nvi',
    ],
    closed: [],
    open: ['vimtutor'],
    effects: vimEffects,
    runs: [
      ["vim -c '!touch x'", 'touch'],
      ["vim -c ':!touch x' -c q a", 'touch'],
      ["vim '+!touch x' a", 'touch'],
      ["vim --cmd '!touch x'", 'touch'],
      ["ex -s -c '!touch x' a", 'touch'],
      ["ex -sc '!touch x' a", 'touch'],
      ["vim -nesc'!touch x' a", 'touch'],
      'vim "+!$x" a',
      'vim "+$x" a',
      'vim -c"$x" a',
      'vim -c \'call system("touch x")\'',
      "vim -es -c 'py3 import os' a",
      'vim -c \'lua os.execute("touch x")\'',
      "nvim --headless -c 'terminal touch x'",
      "vim -c 'w !touch x' a",
      "vim -c 'r !touch x' a",
      "vim -c '%!touch' a",
      'vim -S ./x.vim a',
      'vim -s keys a',
      'vim -u ./vimrc a',
      "ex a <<< '!touch x'",
      ["ex -s a <<'E'\n!touch x\nE", 'touch'],
      'vim -c "$x" a',
      "vim -c 'source ./x.vim' a",
      'vim -W out a',
      "nvim -l x.lua --cmd 'x'",
      ["vim -es -c 'g/^/!touch x' -c q! a", 'touch'],
      "vim -es -c 'e `touch x`' a",
      "vim -es -c 'verb !touch x' a",
      "vim -es -c 'autocm BufWritePost * !touch x' a",
      'vim -es -c \'call writefile(["x"], "/root/.bashrc")\' a',
      "vim -es -c 'w! ~/.bashrc' a",
      'vim -es -c \'let &sh="./evil"\' a',
      'vim -es -c \'echo expand("`x`")\' a',
      "printf ':!touch x\\r' | vim a",
      ["vim -c '/x/!touch y' a", 'touch'],
      ["vim '+r!touch x' a", 'touch'],
      "vim -c 's/x/\\=system(1)/' a",
      "vim -c 'set shell=./x' a",
      "vim -c 'nn x :!touch<CR>' a",
      'vim --servername x --remote-expr 1',
      "vim -c 'put =system(1)' a",
      "vim -es -c '%s/a/b/' -c wq .git/config",
      "vim -c '@a' a",
      "vim -c 'e +!touch b' a",
      "vim -c 'bnext +so\\ x' a",
      "vim -c 'confirm call system(1)' a",
      "vim -c 'e .envrc' -c 's/a/b/ | w' a",
      "vim -c 'file .envrc' -c w a",
      'vim scp://host/a',
    ],
    harmless: [
      'vim a.txt',
      'vim +10 a.txt',
      'vim + a.txt',
      "vim -es -c '%s/a/b/g' -c wq a",
      'vim -d a b',
      'vim --version',
      "vim -c 'set number' a",
      "ex -s a <<'E'\n%s/x/y/\nwq\nE",
      'vim -R a',
      'view .git/config',
      "vim '+/foo' a",
      'nvim --headless +q',
      "vim -c 'e +5 b' -c 'd | w' a",
      'vim -u NONE a',
      "vim -c 'g!/x/d' -c wq a",
      "vim -c 'g/x/s/a/b/ | d' -c 'w out.txt' a",
      "vim -c '%s/a\\|b/c/ge' -c x a",
      "vim -c 'set ts=4 sw=4 et | retab' -c wq a",
      'vim -O a b',
    ],
  },
  {
    names: ['emacs', 'emacsclient', 'xemacs'],
    effects: emacsEffects,
    runs: [
      'emacs --batch --eval \'(shell-command "touch x")\'',
      'emacs -f shell',
      "emacsclient -e '(x)'",
      'emacs --script x.el',
      "emacs --batch --eval='(x)'",
      "emacs --batch --eva '(x)'",
      'emacs -l x.el',
    ],
    harmless: ['emacs a.txt', 'emacs --version', 'emacs -nw a', 'emacsclient -n a.txt'],
  },
  {
    names: ['nano', 'pico', 'joe', 'micro', 'hx', 'helix', 'kak', 'code', 'subl'],
    effects: ({ args, name }) => [
      ...args
        .filter(
          (arg) =>
            /^(?:-s$|--speller|-f$|--rcfile|-e$|-E$|--config|-c$|--install-extension|-plugin)/.test(
              prefixOf(arg),
            ) && !(name === 'code' && arg.text === '-c'),
        )
        .map((at): Effect => ({ does: 'refuse', at, reason: `${name} ${at.text ?? ''} runs code` })),
      ...edited(args),
    ],
    runs: [
      'nano .envrc',
      'nano -s touch a',
      'nano --speller=touch a',
      'nano --rcfile=./x a',
      "kak -e '%sh{touch x}'",
      'code --install-extension ./x.vsix',
    ],
    harmless: ['nano a.txt', 'code .', 'nano +10 a', 'micro a'],
  },
  {
    names: ['ed', 'red'],
    closed: ['ed', 'sed'],
    options: { short: 'Gp:srvEhV', long: 'prompt= quiet silent traditional restricted verbose' },
    effects: (call) => [
      ...unknownOptions(call),
      ...call.options.operands.flatMap((file) => edFile(file)),
      ...call.options.operands
        .filter(() => call.stdin !== 'none' && (call.stdin.more || /^[^\n]*w/m.test(call.stdin.text)))
        .map((path): Effect => ({ does: 'write', path })),
      ...unknownInput(call),
      ...edActions(stdinText(call)).flatMap((action) => toEffects(call, action, call.self)),
    ],
    runs: [
      ["ed a <<< '!touch x'", 'touch'],
      ["printf '%s\\n' '!touch x' q | ed -s a", 'printf', 'touch'],
      ["ed '!touch x'", 'touch'],
      ["ed -s a <<'E'\nr !touch x\nE", 'touch'],
      ["ed a <<< 'w !touch'", 'touch'],
      "ed a <<< 'w /etc/passwd'",
      'ed .git/config',
      "ed -s ~/.bashrc <<'E'\na\ntouch x\n.\nw\nE",
      "tr a b <<< '!gbhpu k' | ed a",
      ["ed a <<'E'\ng/x/!touch y\nE", 'touch'],
      "ed a <<< 'G/x/'",
      ["ed a <<< '/x/!touch y'", 'touch'],
    ],
    harmless: [
      "ed -s a <<'E'\n1,3d\nw\nq\nE",
      'ed a',
      "ed a <<< ',p'",
      "ed -s a <<'E'\n$a\n!touch x\n.\n,s/a/b/g\nw out\nq\nE",
      'ed a < script.ed',
    ],
  },
];

/** Commands given as `+COMMAND`, for example `+!ls`. */
function pagerEffects(call: ProgramCall): Effect[] {
  const typed = call.args
    .filter((arg) => /^\+/.test(prefixOf(arg)))
    .flatMap((arg): Effect[] => {
      const text = arg.text?.replace(/^\++/, '');
      if (text === undefined)
        return prefixOf(arg).length > 1 && !/[!|#v]/.test(prefixOf(arg))
          ? []
          : [{ does: 'unknown', at: arg, reason: `what ${call.name} would do cannot be known` }];
      const [, shell] = /^!+(.*)$/s.exec(text) ?? [];
      if (shell !== undefined) return [{ does: 'shell', text: knownArg(shell, arg) }];
      return /^[|#v:s]|!/.test(text) && !text.startsWith('/') && !text.startsWith('?')
        ? [refused(call, 'would be given keys that start programs', arg)]
        : [];
    });
  const keys = refuseOptions({
    k: 'reads keys that start programs from a file',
    'lesskey-file': 'reads keys from a file',
    'lesskey-src': 'reads keys from a file',
    'lesskey-content': 'takes keys',
    t: 'may start the program global',
    T: 'may start the program global',
    tag: 'may start the program global',
    'tag-file': 'may start the program global',
  })(call);
  return [
    ...unknownOptions(call),
    ...typed,
    ...keys,
    ...(call.name === 'less' ? writeOptions('o', 'O', 'log-file', 'LOG-FILE')(call) : []),
  ];
}

function vimEffects(call: ProgramCall): Effect[] {
  const { args } = call;
  const effects: Effect[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (arg === undefined || arg.text === '--') break;
    const start = prefixOf(arg);
    const next = args[at + 1];
    // `+` alone goes to the last line.
    if (arg.text === '+') continue;
    const before = typedCommand.exec(start)?.[0].length;
    if (arg.text === '--cmd' || before === arg.text?.length) {
      effects.push(...(next === undefined ? [] : exLine(call, next)));
      at++;
    } else if (before !== undefined) effects.push(...exLine(call, withoutPrefix(arg, before)));
    else if (/^-[uUi]$/.test(start) && next !== undefined) {
      if (!/^(?:NONE|NORC|NORES|DEFAULTS|\/dev\/null)$/.test(next.text ?? ''))
        effects.push(refused(call, `${start} reads commands from a file`, next));
      at++;
    } else if (start.startsWith('-') && !plainVimOption.test(start) && !exSilent(call, start))
      effects.push(refused(call, `${start} is not an option that is known to be harmless`, arg));
    else if (/^\w+:\/\//.test(start))
      effects.push(refused(call, 'starts a program to fetch an address', arg));
    else if (!start.startsWith('-') && !isViewer(call)) effects.push(...edited([arg]));
  }
  return [...effects, ...typedInput(call)];
}

/** Returns true for `view` and `vim -R`, which open files to read them. */
function isViewer({ name, args }: ProgramCall): boolean {
  return /view$/.test(name) || args.some(({ text }) => text === '-R' || text === '-M');
}

/** Matches `-c`, also after other letters (`-esc`), and `+`: the rest of the word, or else the next word, is a command. */
const typedCommand = /^-[^-cSuUiqtTVwWoOp]*c|^\+/;

const plainVimOption =
  /^(?:-|-[abCdeEfghHLmMnNRvyZxX]+s?|-es|-[oOp]\d*|-V\d*|-T.*|--|--headless|--clean|--version|--help|--noplugin|--literal|--not-a-term|--nofork|--ttyfail|-version|--remote|--remote-silent|-h|-r|-n)$/;

/** `-s` after `-e`, or for `ex`, means silent mode. */
function exSilent({ name, args }: ProgramCall, option: string): boolean {
  return option === '-s' && (name === 'ex' || args.some((arg) => /^-[a-zA-Z]*e/.test(arg.text ?? '')));
}

/** Without a terminal, vim reads ex commands or keys from stdin; only ex commands are understood. */
function typedInput(call: ProgramCall): Effect[] {
  if (call.args.some(({ text }) => /^--?(?:version|help|h)$/.test(text ?? ''))) return [];
  const isEx = call.name === 'ex' || call.args.some((arg) => /^-[a-zA-Z]*e/.test(arg.text ?? ''));
  const text = stdinText(call);
  // For ex, `-` means silent mode; for vim, the text of the file comes from stdin.
  const reads = !isEx && call.args.some((arg) => arg.text === '-');
  if (reads) return [];
  const keys: Effect[] =
    isEx || text === '' ? [] : [refused(call, 'would be given keys, which may run commands')];
  return [...unknownInput(call), ...keys, ...(isEx ? scriptLines(call, text, exLine) : [])];
}

function scriptLines(
  call: ProgramCall,
  text: string,
  line: (call: ProgramCall, at: Arg) => Effect[],
): Effect[] {
  return text
    .split('\n')
    .slice(0, 512)
    .flatMap((each) => (each === '' ? [] : line(call, knownArg(each, call.self))));
}

/** Judges one vim command line, including commands after `|`. */
function exLine(call: ProgramCall, line: Arg): Effect[] {
  if (line.text === undefined)
    return [{ does: 'unknown', at: line, reason: `what ${call.name} would do cannot be known` }];
  const actions = exActions(line.text);
  const code = actions.some(({ kind }) => kind === 'refuse') ? dangerInEditor(line.text, line) : [];
  return [...actions.flatMap((action) => toEffects(call, action, line)), ...code];
}

function toEffects(call: ProgramCall, { kind, text }: ExAction, at: Arg): Effect[] {
  if (kind === 'run') return [{ does: 'shell', text: knownArg(text, at) }];
  if (kind === 'write') return writesTo(knownArg(text.replace(/^~(?=\/)/, call.home), at), call.args);
  return [refused(call, `would be given a command that is not known to be harmless: ${text}`, at)];
}

function edFile(file: Arg): Effect[] {
  return file.text?.startsWith('!') ? [{ does: 'shell', text: knownArg(file.text.slice(1), file) }] : [];
}

const emacsOption =
  /^(?:-nw|-Q|-q|-n|-t|-c|-r|-nbc|-nsl|-D|-bg|-fg|-fn|-g|-T|--version|--help|--quick|--no-init-file|--no-window-system|--no-site-file|--no-splash|--debug-init|--batch|-batch|--no-wait|--tty|--nw|--create-frame|--reuse-frame|--quiet|-u|\+\d.*)$/;

/** Emacs evaluates the values of many options, and accepts their abbreviations. */
function emacsEffects(call: ProgramCall): Effect[] {
  const unknown = call.args.filter(
    (arg) => /^[-+]./.test(prefixOf(arg)) && !emacsOption.test(arg.text ?? ''),
  );
  return [
    ...unknown.map((at) =>
      refused(call, `${at.text ?? ''} is not an option that is known to be harmless`, at),
    ),
    ...edited(call.args),
    ...call.args
      .filter(({ text }) => text?.includes('('))
      .flatMap((arg) => dangerInEditor(wordText(arg), arg)),
  ];
}

/** Finds paths that code of an editor would delete, and text that it would pass to a shell, for the danger rules. */
function dangerInEditor(code: string, at: Arg): Effect[] {
  const plain = code
    .replace(/\bdelete(?:-directory)?\s{0,9}\(?\s{0,9}(?=["'])/g, 'rmtree(')
    .replace(/\b(?:shell-command|call-process-shell-command)\b/g, 'system');
  return dangerIn(plain, at, true);
}

/** Files that the user may change in an editor on a terminal. */
function edited(args: readonly Arg[]): Effect[] {
  return args
    .filter((arg) => !/^[-+]/.test(prefixOf(arg)) && arg.text !== '.')
    .map((path) => ({ does: 'write', path }));
}
