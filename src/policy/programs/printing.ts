import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, patternOf, prefixOf, textBehind, wordText } from '../words/arg.ts';
import { describeDevice } from '../words/devices.ts';
import { fileContents, foreignOutput, type Output } from '../words/output.ts';
import { decodeBase64 } from './base64.ts';
import { decodeEscapes } from './decode-escapes.ts';
import type { Effect, ProgramEntry } from './program.ts';
import { writtenTo } from './written-files.ts';

/** Programs with predictable output, such as `echo`; it matters if a shell or `xargs` reads it. */
export const printingPrograms: readonly ProgramEntry[] = [
  {
    names: ['echo'],
    closed: [],
    output: echoed,
    runs: [
      ['$(echo touch) x', 'touch'],
      ["$(echo -e 'to\\x75ch') x", 'touch'],
      ["echo -e '#\\ntouch x' | bash", 'bash', 'touch'],
    ],
    harmless: ['echo "rm -rf /"', 'echo $x', "echo '$(touch x)'"],
  },
  {
    names: ['ls'],
    closed: [],
    output: listed,
    runs: [['ls | xargs touch', 'xargs', 'touch']],
    harmless: ['ls -la', 'ls -d */', ['ls *.log | xargs rm -f', 'xargs', 'rm']],
  },
  {
    names: ['printf'],
    closed: [],
    options: { short: 'v:', stop: true },
    effects: storedEffects,
    output: printed,
    runs: [
      ['$(printf %s touch) x', 'touch'],
      ["$(printf '\\164ouch') x", 'touch'],
      "printf -v 'a[$(touch x)]' %s 1",
      'printf -v PATH %s .',
      'printf -vPATH .',
      "declare -i n; printf -v n %s 'a[$(touch x)]'",
      "printf -v n '%5s' 'a[$(touch x)]'; ((n))",
      'printf -v n %s "$(cat f)"; ((n))',
      "printf '#\\U0000000atouch x' | bash",
      "printf 'cat <<E%d' | bash",
    ],
    harmless: [
      'printf \'%s\\n\' "$x"',
      'printf -v x %s 1',
      ['printf -v n %03d "$(cat f)"; ((n))', 'cat'],
      "printf '%(%F)T'",
    ],
  },
  {
    names: ['cat', 'tac'],
    closed: [],
    output: (call) => {
      const { args, stdin, name } = call;
      if (args.length > 0 && args.every(isFile)) return contentsOf(call);
      const [piece] = args.length === 1 ? (args[0]?.pieces ?? []) : [];
      if (typeof piece === 'object' && piece.output !== undefined) return { text: piece.output, more: true };
      const copies = name === 'cat' && args.every((arg) => arg.text === '-') && stdin !== 'none';
      return copies ? (stdin.more ? { ...stdin, more: true } : stdin.text) : undefined;
    },
    runs: [
      ["cat <<'E' | bash\ntouch x\nE", 'bash', 'touch'],
      ['$(cat <<< touch) x', 'touch'],
    ],
    harmless: ['cat a b', 'cat > out <<E\n$x\nE', 'cat'],
  },
  {
    names: [
      'zcat',
      'gzcat',
      'bzcat',
      'xzcat',
      'zstdcat',
      'lz4cat',
      'gunzip',
      'gzip',
      'bunzip2',
      'unxz',
      'xz',
      'zstd',
      'bzip2',
      'lzma',
      'unlzma',
      'lzcat',
      'uncompress',
    ],
    closed: ['bzip2', 'gzip', 'lz4', 'xz', 'zstd'],
    effects: ({ args, name }) => (/cat$/.test(name) ? [] : args.flatMap(unpackedFile)),
    output: ({ args, name }) => {
      const prints = /cat$/.test(name) || args.some((arg) => /^-[a-z]*c$|^--stdout$/.test(wordText(arg)));
      const files = args.filter((arg) => !prefixOf(arg).startsWith('-'));
      return prints && files.length > 0 && files.every(isFile) ? contents : undefined;
    },
    runs: [
      'zcat x.gz | bash',
      'gunzip -f .git/config.gz',
      'xz -d .envrc.xz',
      'zstd -d .git/hooks/pre-commit.zst',
    ],
    harmless: ['gunzip -c dump.sql.gz', 'gunzip data.csv.gz', 'gzip -9 a.log', 'xz -dc a.xz', 'zstd -T0 a'],
  },
  {
    names: ['base64'],
    closed: [],
    output: ({ args, stdin }) => {
      const decodes =
        args.length === 1 && /^(?:-d|-D|-di|--d(?:e(?:c(?:o(?:d(?:e)?)?)?)?)?)$/.test(wordText(args[0]));
      return decodes && stdin !== 'none' && !stdin.more ? decodeBase64(stdin.text) : undefined;
    },
    runs: [['echo dG91Y2ggeA== | base64 -d | bash', 'echo', 'bash', 'touch'], 'base64 -d x | bash'],
    harmless: ['base64 -d file', 'base64 -w0 x'],
  },
];

/** The file that a program such as `gunzip` writes beside a packed one. */
function unpackedFile({ text, pos, end }: Arg): Effect[] {
  const [, path] = /^([^-].*)\.(?:gz|tgz|taz|Z|z|bz2?|xz|lzma|lz4?|zst|zz)$/s.exec(text ?? '') ?? [];
  return path === undefined ? [] : [{ does: 'write', path: knownArg(path, { pos, end }) }];
}

const contents = { ...fileContents, more: true } as const;

/** The contents of files; those that the same command writes may be its own text, but writing them may also fail. */
function contentsOf(call: ProgramCall): Output & { more: true } {
  const written = call.files.size === 0 ? [] : call.args.flatMap((file) => writtenTo(call, file) ?? []);
  const text = written.map((one) => one.text).join('');
  return written.length > 0 ? { ...foreignOutput, text, more: true, made: 'any' } : contents;
}

/** Returns true for an operand that is certainly a file, not an option, a pipe or the output of a program. */
function isFile(arg: Arg): boolean {
  const text = arg.text ?? prefixOf(arg);
  return (
    !/^(?:-|\/dev\/|\/proc\/)/.test(text) &&
    arg.pieces.every((piece) => typeof piece === 'string' || piece.hole !== 'process')
  );
}

/** `ls` prints names relative to the working directory; `ls -d` prints its operands. */
function listed({ args }: ProgramCall): { text: string; more: true } {
  const operands = args.filter((arg) => !prefixOf(arg).startsWith('-'));
  const itself = args.some((arg) => /^-[a-zA-Z0-9]*d/.test(wordText(arg)));
  if (operands.length === 0) return { text: '.\n', more: true };
  // For a pattern of files `ls` prints the files, for one of folders their entries.
  const hasDevices = operands.some((arg) => arg.text === undefined && prefixOf(arg).startsWith('/dev/'));
  return { text: itself || hasDevices ? placesIn(operands) : foldersIn(operands), more: true };
}

/** The directories whose entries `ls` prints, each with a slash at its end. */
function foldersIn(words: readonly Arg[]): string {
  return words
    .flatMap(({ text }) =>
      text === undefined || text === '' ? [] : [text.endsWith('/') ? text : `${text}/`],
    )
    .map((folder) => `${folder}\n`)
    .join('');
}

/** Finds operands such as `/*` that name everything in a directory. */
function placesIn(words: readonly Arg[]): string {
  let places = '';
  for (const word of words) {
    if (word.text !== undefined) continue;
    const pattern = patternOf(word);
    const end = pattern?.endsWith('/*/') ? -2 : pattern?.endsWith('/*') ? -1 : undefined;
    if (pattern !== undefined && end !== undefined) places += `${pattern.slice(0, end)}\n`;
    else if (pattern !== undefined && describeDevice(pattern) !== undefined) places += '/dev/sda\n';
  }
  return places;
}

/** `printf -v` assigns its output to a variable; if the output is unknown, the variable may contain any of the words. */
function storedEffects({ options, args, posix }: ProgramCall): Effect[] {
  if (!args[0]?.text?.startsWith('-v')) return [];
  const [format, ...values] = options.operands;
  const text = format && formatted(format, values, posix);
  const words = isNumberFormat(wordText(format))
    ? ''
    : options.operands.map(({ pieces }) => pieces.map(textBehind).join('')).join(' ');
  // The last argument of `%(%F)T` may be -1 or -2.
  const made = /(?:^|\W)-/.test(words.replace(/\)T -[12]$/, ')T')) ? 'parts' : undefined;
  return options
    .values('v')
    .map((name) =>
      text === undefined || format === undefined
        ? { does: 'assign', name, uncertain: words, made }
        : { does: 'assign', name, value: knownArg(text, format) },
    );
}

/** Returns true if the format prints numbers for any arguments. */
function isNumberFormat(format: string): boolean {
  return format.includes('%') && /^(?:%[-+#]?\d{0,3}[diouxX]|[\w .:-])+$/.test(format);
}

function echoed({ args, posix }: ProgramCall): string | { text: string; more: true } | undefined {
  let flags = 0;
  let options = '';
  for (; isEchoOption(wordText(args[flags])); flags++) options += wordText(args[flags]).slice(1);
  const words = flags === 0 ? args : args.slice(flags);
  const text = knownText(words);
  if (text === undefined) return { text: placesIn(words), more: true };
  // In `sh`, `echo` always decodes escapes and prints `-e` literally.
  if (posix && (text.includes('\\') || /[eE]/.test(options))) return undefined;
  const end = options.includes('n') ? '' : '\n';
  const decodes = options.lastIndexOf('e') > options.lastIndexOf('E');
  const printed = decodes ? decodeEscapes(text, 'echo') : text;
  return printed === undefined ? undefined : printed + end;
}

function isEchoOption(word: string): boolean {
  return word.startsWith('-') && /^-[neE]+$/.test(word);
}

/** Joins the words with blanks if all of them are known. */
function knownText(words: readonly Arg[]): string | undefined {
  let text = '';
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word?.text === undefined || word.many) return undefined;
    text += at === 0 ? word.text : ` ${word.text}`;
  }
  return text;
}

function printed({ args, posix }: ProgramCall): string | { text: string; more: true } | undefined {
  const isOperand = args[0]?.text === '--';
  const [format, ...values] = isOperand ? args.slice(1) : args;
  if (format?.text === undefined || (!isOperand && format.text.startsWith('-'))) return undefined;
  const text = formatted(format, values, posix);
  const places = text === undefined ? placesIn(values) : '';
  if (places !== '') return { text: places, more: true };
  if (text !== undefined || !format.text.includes('\\0')) return text;
  // `xargs -0` reads words that end with NUL bytes.
  const lines = formatted(knownArg(format.text.replaceAll('\\0', '\\n'), format), values, posix);
  return lines === undefined ? undefined : { text: lines, more: true };
}

function formatted(format: Arg, values: readonly Arg[], posix: boolean): string | undefined {
  if (format.text === undefined) return undefined;
  if (values.some((value) => value.text === undefined || value.many)) return undefined;
  // In `sh`, `printf` supports fewer escapes.
  if (/%[^sbc%d]|%$/.test(format.text) || (posix && /\\[^nt\\]/.test(format.text))) return undefined;
  const texts = values.map((value) => wordText(value));
  let output = '';
  do {
    const next = once(format.text, texts);
    if (next === undefined) return undefined;
    output += next;
  } while (texts.length > 0 && /%[sbcd]/.test(format.text) && output.length < 65_536);
  return texts.length > 0 && output.length >= 65_536 ? undefined : output;
}

/** Applies the format once and removes the values that it used from the list. */
function once(format: string, values: string[]): string | undefined {
  let output = '';
  for (const part of format.split(/(%[sbcd%])/)) {
    const piece = converted(part, values);
    if (piece === undefined) return undefined;
    output += piece;
  }
  return output;
}

/** The character that `%c` prints; undefined unless it is ASCII, because the locale decides how many bytes of others are printed. */
function asciiStart(value: string): string | undefined {
  return /^[\x01-\x7f]/.test(value) ? value.charAt(0) : undefined;
}

function converted(part: string, values: string[]): string | undefined {
  if (part === '%%') return '%';
  if (part === '%s') return values.shift() ?? '';
  if (part === '%c') return asciiStart(values.shift() ?? '');
  if (part === '%b') return decodeEscapes(values.shift() ?? '', '%b');
  if (part !== '%d') return decodeEscapes(part, 'format');
  const number = values.shift() ?? '0';
  return /^(?:0|-?[1-9]\d{0,14})$/.test(number) ? number : undefined;
}
