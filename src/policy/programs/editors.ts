import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { allOf, refuseOptions } from './effects.ts';
import { refused, startOptions, stdinText, writeOptions } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

/** Pagers and editors such as `less` and `vim`, whose commands can start programs. */
export const editorPrograms: readonly ProgramEntry[] = [
  {
    names: ['less', 'more', 'most', 'pg', 'zless', 'zmore', 'lesspipe'],
    options: {
      short: 'aABb:cCdD:eEfFgGh:iIj:Jk:KLmMnNo:O:p:P:qQrRsStT:uUVwWx:X~y:z:',
      long: 'log-file= LOG-FILE= lesskey-file= lesskey-src= lesskey-content= tag-file= pattern= prompt= follow-name quit-if-one-screen RAW-CONTROL-CHARS no-init tabs= window= version help',
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
    options: {
      short: 'adfkKlwWcDtTZ7P:H::C:L:m:M:S:s:e:iIp:r:R:E:X::uVhnbo:',
      long: 'pager= html[=] browser[=] config-file= preprocessor= locale= systems= manpath= sections= extension= troff ditroff where what-is apropos local-file all prompt= recode= encoding= gxditview[=] help version usage output= dribble= restore= init-file=',
    },
    effects: allOf(
      startOptions('P', 'pager'),
      refuseOptions({
        C: 'takes settings that run programs from a file',
        'config-file': 'takes settings that run programs from a file',
        'init-file': 'takes settings from a file',
        restore: 'types keys from a file',
      }),
      ({ options, name }) =>
        options.given
          .filter((option) => /^(?:H|html|browser)$/.test(option.name) && name === 'man')
          .map(({ at }) => ({ does: 'refuse', at, reason: `${name} -H starts a browser` }) as const),
    ),
    runs: [
      ['man -P touch ls', 'touch'],
      ["man --pager='touch x' ls", 'touch'],
      ["man -P'sh -c touch' ls", 'sh', 'touch'],
      'man -Htouch ls',
      'man -C ./x ls',
      'man --html=touch ls',
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
    options: {
      short: 'pAnl:H:m:r:fuPhVd',
      long: 'pager= paging= language= style= color= theme= line-range= plain number highlight-line= file-name= map-syntax= wrap= diff list-themes list-languages config-file generate-config-file diagnostic tabs=',
    },
    effects: startOptions('pager'),
    runs: [
      ['bat --pager=touch a', 'touch'],
      ["batcat --pager 'touch x' a", 'touch'],
    ],
    harmless: ['bat -p a.ts', 'bat --paging=never a', ["bat --pager='less -R' a", 'less'], 'delta a b'],
  },
  {
    names: ['vim', 'vi', 'nvim', 'view', 'ex', 'vimdiff', 'gvim', 'rvim', 'vimtutor', 'elvis', 'nvi'],
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
      "vim '+/foo' a",
      'nvim --headless +q',
      'vim -u NONE a',
      "vim -c 'g!/x/d' -c wq a",
    ],
  },
  {
    names: ['emacs', 'emacsclient', 'xemacs'],
    effects: ({ args, name }) =>
      args
        .filter((arg) =>
          /^--?(?:eval|execute|e$|f$|funcall|batch-eval|l$|load|script|L$|directory|a$|alternate-editor|init-dir)/.test(
            prefixOf(arg),
          ),
        )
        .map((at) => ({ does: 'refuse', at, reason: `${name} ${at.text ?? ''} runs code` })),
    runs: [
      'emacs --batch --eval \'(shell-command "touch x")\'',
      'emacs -f shell',
      "emacsclient -e '(x)'",
      'emacs --script x.el',
      "emacs --batch --eval='(x)'",
    ],
    harmless: ['emacs a.txt', 'emacs --version', 'emacs -nw a', 'emacsclient -n a.txt'],
  },
  {
    names: ['nano', 'pico', 'joe', 'micro', 'hx', 'helix', 'kak', 'code', 'subl'],
    effects: ({ args, name }) =>
      args
        .filter(
          (arg) =>
            /^(?:-s$|--speller|-f$|--rcfile|-e$|-E$|--config|-c$|--install-extension|-plugin)/.test(
              prefixOf(arg),
            ) && !(name === 'code' && arg.text === '-c'),
        )
        .map((at) => ({ does: 'refuse', at, reason: `${name} ${at.text ?? ''} runs code` })),
    runs: [
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
    options: { short: 'Gp:srvEhV', long: 'prompt= quiet silent traditional restricted verbose' },
    effects: (call) => [
      ...call.options.operands.flatMap((file) => edFile(file)),
      ...scriptLines(call, stdinText(call), edLine),
    ],
    runs: [
      ["ed a <<< '!touch x'", 'touch'],
      ["printf '%s\\n' '!touch x' q | ed -s a", 'printf', 'touch'],
      ["ed '!touch x'", 'touch'],
      ["ed -s a <<'E'\nr !touch x\nE", 'touch'],
      ["ed a <<< 'w !touch'", 'touch'],
      "ed a <<< 'w /etc/passwd'",
    ],
    harmless: ["ed -s a <<'E'\n1,3d\nw\nq\nE", 'ed a', "ed a <<< ',p'"],
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
    k: 'takes keys that start programs from a file',
    'lesskey-file': 'takes keys from a file',
    'lesskey-src': 'takes keys from a file',
    'lesskey-content': 'takes keys',
  })(call);
  return [
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
        effects.push(refused(call, `${start} takes commands from a file`, next));
      at++;
    } else if (/^-[SsWwlL]$|^-S./.test(start) && !exSilent(call, start))
      effects.push(refused(call, `${start} takes or writes commands`, arg));
  }
  const typed =
    call.name === 'ex' || args.some((arg) => /^-[a-zA-Z]*e/.test(arg.text ?? '')) ? stdinText(call) : '';
  return [...effects, ...scriptLines(call, typed, exLine)];
}

/** Matches `-c`, also after other letters (`-esc`), and `+`: the rest of the word, or else the next word, is a command. */
const typedCommand = /^-[^-cSuUiqtTVwWoOp]*c|^\+/;

/** `-s` after `-e`, or for `ex`, means silent mode. */
function exSilent({ name, args }: ProgramCall, option: string): boolean {
  return option === '-s' && (name === 'ex' || args.some((arg) => /^-[a-zA-Z]*e/.test(arg.text ?? '')));
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
  const text = line.text.replace(/^[\s:]+/, '');
  const [, shell] = /^(?:sil(?:ent)?!?\s+)?!+(.*)$/s.exec(text) ?? [];
  if (shell !== undefined) return [{ does: 'shell', text: knownArg(shell, line) }];
  const searches = /^[/?]/.test(text);
  const filter =
    /(?:^|\|)\s*(?:[\d.$%,'<>]*|\*)!|(?:^|\s|[%\d$])(?:r|re|read|w|wr|write)!?\s+!|(?:^|\|)\s*[\d,$%.]*\s*(?:r|w)!/;
  const code =
    /\b(?:system|systemlist|job_start|jobstart|term_start|termopen|libcall\w*|execute|eval|feedkeys|luaeval|py3?eval|exec)\b|(?:^|[|\s:])(?:exe|sh|shell|ter|term|terminal|te|py|pyt|python|py3|python3|pyx|pyxfile|py3file|pyfile|perl|perldo|ruby|rubydo|rubyfile|rub|tcl|tcldo|lua|luado|luafile|mz|mzscheme|so|source|ru|runtime|mak|make|lmake|gr|grep|lgrep|cs|cscope|pa|packadd|aug?|autocmd|au|norm|normal|nmap|map|imap|cmap|cex|cgetexpr|diffp|diffpatch|hardcopy|ha)\b!?(?:\s|$)/;
  const options =
    /\b(?:makeprg|grepprg|shell|equalprg|formatprg|keywordprg|shellcmdflag|modeline|exrc|foldexpr|formatexpr|indentexpr|includeexpr|patchexpr|diffexpr|statusline|printexpr)\b\s*=/;
  return !searches && (filter.test(text) || code.test(text) || options.test(text))
    ? [refused(call, `would run code: ${text}`, line)]
    : [];
}

/** Judges one line of input for `ed`. */
function edLine(_call: ProgramCall, line: Arg): Effect[] {
  const [, shell] = /^[^!]*?(?:^|[\d,$.;%]|[rwefEW]\s*)!+(.*)$/.exec(line.text ?? '') ?? [];
  if (shell !== undefined) return [{ does: 'shell', text: knownArg(shell, line) }];
  const [, file] = /^[\d,$.%]*[wW]q?\s+(\S.*)$/.exec(line.text ?? '') ?? [];
  return file === undefined ? [] : [{ does: 'write', path: knownArg(file, line) }];
}

function edFile(file: Arg): Effect[] {
  return file.text?.startsWith('!') ? [{ does: 'shell', text: knownArg(file.text.slice(1), file) }] : [];
}
