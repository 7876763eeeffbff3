import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, mayBeOption, ownText, wordText } from '../words/arg.ts';
import { silent } from '../words/output.ts';
import { ownInput } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { judgeWritten, writtenTo } from './written-files.ts';

/** Long options of bash that name a file to run first. */
const startupOptions = new Set(['init-file', 'rcfile']);

/** Shells: the text of `-c`, the input from stdin, and the files that they run. */
export const shellPrograms: readonly ProgramEntry[] = [
  {
    names: ['bash', 'sh', 'dash', 'rbash', 'ash'],
    effects: shellEffects,
    runs: [
      ["bash -c 'touch x'", 'touch'],
      ["bash -euc 'touch x'", 'touch'],
      ["bash -e -u -o pipefail -c 'touch x'", 'touch'],
      ["bash -lc 'touch x'", 'touch'],
      ["bash +x -c 'touch x'", 'touch'],
      ["bash --norc -c 'touch x'", 'touch'],
      ["bash -c -e 'touch x'", 'touch'],
      ["bash -c '$0 x' touch", 'touch'],
      ['bash -c \'"$@"\' _ touch x', 'touch'],
      ["bash <<< 'touch x'", 'touch'],
      ['bash <<E\ntouch x\nE', 'touch'],
      ["echo 'touch x' | bash", 'echo', 'touch'],
      ["echo 'touch x' | bash -s -- a", 'echo', 'touch'],
      ["bash -s touch <<< '$1 x'", 'touch'],
      ['bash <(echo touch x)', 'echo', 'touch'],
      ["bash /dev/stdin <<< 'touch x'", 'touch'],
      'bash',
      'bash -i',
      'curl -s x | bash',
      'bash -c "$x"',
      'bash -c "ls $x"',
      'bash --rcfile ./x -i',
      'bash --init-file=./x',
      "bash --posix -c ':'",
      "bash -O xpg_echo -c ':'",
      "bash -ko errexit -c ':'",
      'bash -O extglob -c "$x"',
      'bash < script.sh',
      'bash $x',
      'bash "$x" "$y"',
      'bash -c "touch"\' x\'',
      ["echo 'touch x' > s; bash s", 'echo', 'touch'],
      'cat a > s; bash ./s',
      "echo 'touch x' > s; bash [s]",
      'echo : > s; bash s & cat a > s',
    ],
    harmless: [
      'bash script.sh',
      'bash "$script"',
      'for f in tests/*.sh; do bash "$f" -v; done',
      'bash -x ./script.sh "$arg"',
      'bash --version',
      ["bash -c 'ls -l'", 'ls'],
      ["bash -O extglob -c 'ls'", 'ls'],
      ['bash -n script.sh'],
      "bash -c 'exit 1'",
    ],
  },
  {
    names: [
      'zsh',
      'ksh',
      'mksh',
      'fish',
      'csh',
      'tcsh',
      'yash',
      'pwsh',
      'powershell',
      'nu',
      'elvish',
      'xonsh',
      'rc',
      'es',
    ],
    effects: foreignShell,
    runs: [
      ["zsh -c 'ls -l; touch x'", 'ls', 'touch'],
      "zsh -c 'ls *(e:touch:)'",
      'fish -c "touch (x)"',
      "fish -c 'touch x'",
      "echo 'touch x' | zsh",
      'zsh',
      "ksh -lc 'touch x'",
      'pwsh -Command x',
    ],
    harmless: ['zsh script.zsh', 'fish --version'],
  },
];

/** bash and compatible shells; their input is parsed as bash would parse it. */
function shellEffects(call: ProgramCall): Effect[] {
  const { command, stdin, operands, startup, version, checks } = readShellWords(call.args);
  if (version) return [];
  const effects: Effect[] = startup.map((at) => ({
    does: 'refuse',
    at,
    reason: `${call.name} ${at.text ?? '--rcfile'} runs a file at the start`,
  }));
  const options = call.args.slice(0, call.args.length - operands.length);
  const reading = options.find((arg) => readingOptions.test(wordText(arg)));
  if (reading !== undefined)
    effects.push({
      does: 'refuse',
      at: reading,
      reason: `${call.name} ${wordText(reading)} changes how text is read`,
    });
  const [first, ...rest] = operands;
  const isInteractive = options.some((arg) => /^-[a-zA-Z]*i/.test(wordText(arg)));
  if (checks && !isInteractive && first !== undefined && !stdin && !command) return effects;
  if (command) {
    if (first !== undefined)
      effects.push({ does: 'shell', text: first, args: rest.length > 0 ? rest : [call.self] });
    return effects;
  }
  return [...effects, ...(stdin ? stdinEffects(call, operands) : scriptEffects(call, first, rest))];
}

/** Options that change how the shell parses text. */
const readingOptions = /^(?:--posix|-[a-zA-Z]*k.*|posix|keyword|lastpipe|xpg_echo|nocasematch)$/;

interface ShellWords {
  command: boolean;
  stdin: boolean;
  version: boolean;
  operands: readonly Arg[];
  startup: Arg[];
  /** True with `-n`, which only parses the script. */
  checks: boolean;
}

/** bash accepts `-c` anywhere among its options; the script is the first word that is not an option. */
function readShellWords(args: readonly Arg[]): ShellWords {
  const found: ShellWords = {
    command: false,
    stdin: false,
    version: false,
    operands: [],
    startup: [],
    checks: false,
  };
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at];
    const word = arg?.text;
    if (arg === undefined || word === undefined || !/^[-+]./.test(word)) break;
    if (word === '--') {
      at++;
      break;
    }
    if (word.startsWith('--')) at += readLongOption(arg, word, found);
    else at += readLetters(word, found);
  }
  found.operands = args.slice(at);
  return found;
}

function readLongOption(arg: Arg, word: string, found: ShellWords): number {
  const name = word.slice(2).split('=')[0] ?? '';
  if (name === 'version' || name === 'help') found.version = true;
  const valued = startupOptions.has(name);
  if (valued) found.startup.push(arg);
  return valued && !word.includes('=') ? 1 : 0;
}

/** The number of values that the letters take: `-o` and `-O` take one each. */
function readLetters(word: string, found: ShellWords): number {
  const letters = word.slice(1);
  if (word.startsWith('-') && letters.includes('c')) found.command = true;
  if (word.startsWith('-') && letters.includes('s')) found.stdin = true;
  if (word === '-n') found.checks = true;
  return letters.split('').filter((letter) => letter === 'o' || letter === 'O').length;
}

/** Allows a script file; stdin must be known text. */
function scriptEffects(call: ProgramCall, file: Arg | undefined, rest: readonly Arg[]): Effect[] {
  const piece = file?.pieces[0];
  if (typeof piece === 'object' && piece.hole === 'process') {
    if (piece.output === undefined)
      return [
        {
          does: 'unknown',
          at: file ?? call.self,
          reason: `the text that ${call.name} would run cannot be known`,
          own: ownText(piece),
        },
      ];
    return [{ does: 'shell', text: knownArg(piece.output, file ?? call.self), args: [call.self, ...rest] }];
  }
  if (file === undefined) return stdinEffects(call, []);
  // An unknown word may expand to `-c` if another word follows it.
  if (mayBeOption(file) && file.text === undefined && (file.many || rest.length > 0)) {
    return [{ does: 'unknown', at: file, reason: `what ${call.name} would run cannot be known` }];
  }
  return /^(?:\/dev\/stdin|-|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(wordText(file))
    ? stdinEffects(call, rest)
    : fileEffects(call, file, rest);
}

/** A file that the same command writes is judged by its contents; any other file may be run. */
function fileEffects(call: ProgramCall, file: Arg, rest: readonly Arg[] = []): Effect[] {
  const written = judgeWritten(call, [file], (text) => [{ does: 'shell', text, args: [file, ...rest] }]);
  const { text = '', more } = writtenTo(call, file) ?? silent;
  // A file whose contents are known in part is judged only for danger.
  if (more && text !== '')
    written.push({ does: 'perhaps', text: knownArg(text, file), args: [file, ...rest] });
  if (written.length > 0) return written;
  const opened = /^\/(?:dev\/fd|proc\/[^/]+\/fd)\//.test(wordText(file));
  return opened
    ? [{ does: 'unknown', at: file, reason: `the text that ${call.name} would run cannot be known` }]
    : [];
}

function stdinEffects(call: ProgramCall, rest: readonly Arg[], understood = true): Effect[] {
  if (call.stdin === 'none') return [];
  const stdin = { text: call.stdin.text, more: call.stdin.more || !understood };
  const text: Effect = { does: 'shell', text: knownArg(stdin.text, call.self), args: [call.self, ...rest] };
  if (!stdin.more) return stdin.text === '' ? [] : [text];
  const unknownText: Effect = {
    does: 'unknown',
    at: call.self,
    reason: `what ${call.name} would read and run cannot be known`,
    own: ownInput(call.stdin),
  };
  if (call.stdin.endless && /&\s*$/.test(stdin.text)) {
    const reason = 'it starts programs without end and waits for none (a fork bomb)';
    return [{ does: 'danger', at: call.self, rule: 'fork_bomb', reason }];
  }
  // Part of a script is judged only for danger.
  return [unknownText, { does: 'perhaps', text: knownArg(stdin.text, call.self) }];
}

/** Matches text that every shell parses in the same way. */
const common = /^[\w\s./,:;&|"'@%+-]*$/;

const keywords =
  /\b(?:if|while|until|for|foreach|case|switch|function|begin|end|and|or|not|do|repeat|select|noglob)\b/;

function isCommon({ name }: ProgramCall, text: string): boolean {
  return /^(?:zsh|m?ksh|yash|fish)$/.test(name) && common.test(text) && !keywords.test(text);
}

function foreignText(call: ProgramCall, at: Arg, text: Arg | undefined): Effect[] {
  if (text?.text !== undefined && isCommon(call, text.text))
    return [{ does: 'shell', text, args: [call.self] }];
  const unknownText: Effect = { does: 'unknown', at, reason: `the text for ${call.name} is not understood` };
  return text === undefined ? [unknownText] : [unknownText, { does: 'perhaps', text }];
}

/** Shells with their own syntax, such as `fish`: their scripts are refused under a list, and judged for danger as far as possible. */
function foreignShell(call: ProgramCall): Effect[] {
  const inline = call.args.findIndex((arg) =>
    /^-[a-z]*c$|^-{1,2}(?:command|c|EncodedCommand|e|ec).*$/i.test(wordText(arg)),
  );
  if (inline >= 0) return foreignText(call, call.args[inline] ?? call.self, call.args[inline + 1]);
  if (call.args.some((arg) => /^--(?:version|help)$/.test(wordText(arg)))) return [];
  const file = call.args.find((arg) => !/^-/.test(wordText(arg)));
  if (file !== undefined) return fileEffects(call, file);
  return stdinEffects(call, [], false);
}
