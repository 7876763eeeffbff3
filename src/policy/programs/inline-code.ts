// Inline code of interpreters (P5):
// 1. `inlineCode` parses the arguments as the interpreter does: options, inline code, a file, or nothing.
// 2. Under a list, unknown code is refused, and so is code that visibly starts programs.
// 3. Strings that the code would pass to a shell, and paths that it would delete or overwrite, are judged by the danger
//    rules, which apply under every list.

import { quoteWord } from '../../support/quote.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, mayBeOption, textOf, withoutPrefix, wordText } from '../words/arg.ts';
import { deletesArguments, destructionIn, forksEndlessly, withoutPrinted } from './code-destruction.ts';
import { writesOfCode, writtenArguments } from './code-writes.ts';
import type { Effect } from './program.ts';
import { scriptIn } from './script-file.ts';

/** An interpreter: which options contain code, and which patterns in the code start programs. */
export interface Language {
  readonly name: string;
  readonly inline: {
    /** Letters of options whose value is code, such as `e` in `perl -e`. */
    readonly letters: string;
    /** Letters of options that take a value, including those in `code`. */
    readonly takes: string;
    /** Letters whose value is the rest of the word, never the next word. */
    readonly attached?: string;
    /** Letters that may be followed by digits, such as `-0777`. */
    readonly digits?: string;
    /** Words that are abbreviations of others. */
    readonly aliases?: Readonly<Record<string, string>>;
    readonly long?: readonly string[];
  };
  /** Long options, without their dashes, that take no value, or one after `=`. */
  readonly flags?: readonly string[];
  /** Long options, without their dashes, whose value may be the next word. */
  readonly valued?: readonly string[];
  /** Long options among `valued` whose value is a file that the interpreter writes. */
  readonly writes?: readonly string[];
  /** Letters that take no value; other letters than these and those in `inline` are refused. */
  readonly letters?: string;
  /** Letters and words with which the interpreter also reads code from stdin. */
  readonly interactive?: readonly string[];
  /** Options such as `--import` or `-M` whose value is code or a `data:` URL with code. */
  readonly codeOptions?: readonly string[];
  /** Options such as `--version` with which the interpreter runs nothing. */
  readonly words: readonly string[];
  /** Letters after whose value all words are arguments of the code. */
  readonly endsOptions?: string;
  /** Returns the code without its strings and comments, which start nothing. */
  readonly plain?: (code: string) => string;
  /** Matches comments. They may also be in strings, so the code is searched with and without them. */
  readonly comment?: RegExp;
  readonly spawns: readonly RegExp[];
  /** Judges the code beyond `spawns`: returns true if it starts programs. */
  readonly judge?: (code: string) => boolean;
}

/** The effects of calling an interpreter. */
export function inlineCode(language: Language): (call: ProgramCall) => Effect[] {
  return (call) => {
    const read = readWords(call, language);
    const effects: Effect[] = [
      ...read.unknown.map((at): Effect => unknownWord(call, at)),
      ...read.written.map((path): Effect => ({ does: 'write', path })),
      ...read.codes.flatMap((code) => codeEffects(language, code, call)),
      ...pipedOperands(language, read.rest),
    ];
    const asks = call.args.some(({ text }) => text !== undefined && language.interactive?.includes(text));
    const typed = asks ? sourceEffects(language, undefined, call) : [];
    if (read.done || read.codes.length > 0) return [...effects, ...typed];
    return [...effects, ...typed, ...sourceEffects(language, read.file, call)];
  };
}

function unknownWord({ name }: ProgramCall, at: Arg): Effect {
  const option = wordText(at).split('=')[0];
  const reason = `${name} ${option} is not an option that is known to be harmless`;
  return { does: 'refuse', at, rule: 'unknown_option', reason };
}

/** Perl opens an operand `cmd |` as a pipe from a command, and `> file` for writing. */
function pipedOperands(language: Language, rest: readonly Arg[]): Effect[] {
  if (language.name !== 'Perl') return [];
  return rest.flatMap((at): Effect[] => {
    const text = wordText(at).trim();
    if (text.endsWith('|')) return [{ does: 'shell', text: knownArg(text.slice(0, -1), at) }];
    if (text.startsWith('|')) return [{ does: 'shell', text: knownArg(text.slice(1), at) }];
    return text.startsWith('>') || text.startsWith('+')
      ? [{ does: 'write', path: knownArg(text.replace(/^[+>]*\s?/, ''), at) }]
      : [];
  });
}

interface Words {
  readonly codes: Arg[];
  readonly unknown: Arg[];
  readonly written: Arg[];
  rest: readonly Arg[];
  file: Arg | undefined;
  done: boolean;
}

function readWords(call: ProgramCall, language: Language): Words {
  const words: Words = { codes: [], unknown: [], written: [], rest: [], file: undefined, done: false };
  const { args } = call;
  for (let at = 0; at < args.length && words.file === undefined; at++) {
    const arg = args[at];
    const text = arg?.text;
    if (arg === undefined) break;
    words.rest = args.slice(at + 1);
    if (text === 'eval' && /^(?:deno|bun)$/.test(call.name)) at = takeCode(words, args, at);
    else if (text !== undefined && language.words.includes(text)) words.done = true;
    else if (text === '--') words.file = args[at + 1];
    else if (prefix(arg).startsWith('--')) at = readLong(words, language, args, at, prefix(arg));
    else if (prefix(arg).startsWith('-') && text !== '-') at = readLetters(words, language, args, at);
    else {
      words.file = arg;
      words.rest = args.slice(at);
    }
  }
  return words;
}

function takeCode(words: Words, args: readonly Arg[], at: number): number {
  const code = args[at + 1];
  if (code !== undefined) words.codes.push(code);
  return at + 1;
}

function readLong(words: Words, language: Language, args: readonly Arg[], at: number, text: string): number {
  const name = text.split('=')[0] ?? '';
  const word = args[at];
  if (word === undefined) return at;
  const holdsCode = language.inline.long?.includes(name) || language.codeOptions?.includes(name);
  const plain = name.slice(2);
  const valued = language.valued?.includes(plain) === true;
  if (language.flags !== undefined && !holdsCode && !valued && !language.flags.includes(plain))
    words.unknown.push(word);
  const attached = text.includes('=') ? withoutPrefix(word, name.length + 1) : undefined;
  const takesNext = attached === undefined && (holdsCode || valued);
  const value = attached ?? (takesNext ? args[at + 1] : undefined);
  if (holdsCode && value !== undefined) words.codes.push(...codeValue(language, name, value));
  if (value !== undefined && language.writes?.includes(plain)) words.written.push(value);
  return takesNext ? at + 1 : at;
}

/** The value of `--import` is code only if it is a `data:` URL; otherwise it names a file or package. */
function codeValue(language: Language, name: string, value: Arg): Arg[] {
  if (!language.codeOptions?.includes(name) || name.length === 2) return [value];
  return value.text?.startsWith('data:') ? [knownArg(decodeAddress(value.text), value)] : [];
}

function decodeAddress(address: string): string {
  if (/^[^,]*;base64,/.test(address)) return `eval(${address})`;
  try {
    return decodeURIComponent(address);
  } catch {
    return `eval(${address})`;
  }
}

function readLetters(words: Words, language: Language, args: readonly Arg[], at: number): number {
  const arg = args[at];
  const { letters, takes, attached = '', digits = '', aliases = {} } = language.inline;
  const written = arg === undefined ? '' : prefix(arg);
  const text = (Object.hasOwn(aliases, written) ? aliases[written] : undefined) ?? written;
  for (let index = 1; arg !== undefined && index < text.length; index++) {
    const letter = text.charAt(index);
    if (digits.includes(letter)) {
      index += /^\d*/.exec(text.slice(index + 1))?.[0].length ?? 0;
      continue;
    }
    if (attached.includes(letter)) return at;
    if (!takes.includes(letter)) {
      if (language.letters?.includes(letter) === false) words.unknown.push(arg);
      continue;
    }
    const rest = withoutPrefix(arg, written.length - text.length + index + 1);
    const next = rest.text === '' ? args[at + 1] : undefined;
    const value = rest.text === '' ? next : rest;
    const holdsCode = letters.includes(letter) || language.codeOptions?.includes(`-${letter}`);
    if (holdsCode && value !== undefined) words.codes.push(value);
    if (language.endsOptions?.includes(letter))
      return endOptions(words, letter, args, at + (next ? 2 : 1), value);
    return next === undefined ? at : at + 1;
  }
  return at;
}

/** After `-c CODE` or `-m MODULE` the rest are arguments; some modules take code from them. */
function endOptions(
  words: Words,
  letter: string,
  args: readonly Arg[],
  rest: number,
  value: Arg | undefined,
): number {
  words.done = true;
  if (
    letter === 'm' &&
    /^(?:timeit|pdb|cProfile|profile|trace|code|IPython|bpython|ptpython)$/.test(wordText(value))
  )
    words.codes.push(...args.slice(rest).map(withoutOption));
  return args.length;
}

/** The code in a word such as `--setup=CODE` or `-sCODE`. */
function withoutOption(arg: Arg): Arg {
  const [option] = /^(?:--[\w-]+=|-[a-z](?=.))/.exec(wordText(arg)) ?? [];
  return option === undefined ? arg : withoutPrefix(arg, option.length);
}

function prefix(arg: Arg): string {
  const first = arg.pieces[0];
  return typeof first === 'string' ? first : '';
}

/** Without inline code, the interpreter runs a file or stdin. */
function sourceEffects(language: Language, file: Arg | undefined, call: ProgramCall): Effect[] {
  const at = file ?? knownArg('-', call.self);
  const cannotKnow: Effect = {
    does: 'unknown',
    at,
    reason: `the code that ${call.name} would run cannot be known`,
  };
  if (mayBeOption(at) && at.many) return [cannotKnow];
  const script = scriptIn(call, at);
  if (script === 'file') return [];
  return script === 'unknown' ? [cannotKnow] : codeEffects(language, script, call);
}

/** Judges code: `unknown` if its text is not known, `refuse` if it starts programs. */
export function codeEffects(language: Language, code: Arg, call: ProgramCall): Effect[] {
  const known = code.pieces.filter((piece) => typeof piece === 'string').join('');
  const texts = searched(language, known);
  const spawns =
    language.spawns.some((pattern) => texts.some((plain) => pattern.test(plain))) ||
    language.judge?.(known) === true;
  const danger = [
    ...dangerIn(known, code, spawns),
    ...argumentDeletions(known, code, call),
    ...writesOfCode(known, code, call.home),
    ...writtenArguments(
      known,
      call.args.filter((arg) => arg !== code),
    ),
  ];
  const text = textOf(code.pieces);
  if (text === undefined && !onlyDataHoles(code)) {
    return [
      { does: 'unknown', at: code, reason: `the code that ${call.name} would run cannot be known` },
      ...danger,
    ];
  }
  const refuse: Effect = {
    does: 'refuse',
    at: code,
    rule: 'inline_code',
    reason: `the ${language.name} code would start programs`,
  };
  const note: Effect = {
    does: 'note',
    at: code,
    reason: `The ${language.name} code is searched only for visible signs that it starts programs; it is not judged like a command`,
  };
  return spawns ? [refuse, ...danger] : [note, ...danger];
}

/** Returns deletions of paths that code receives as arguments or input: `python3 -c 'shutil.rmtree(sys.argv[1])' /`. */
function argumentDeletions(code: string, at: Arg, { args, stdin }: ProgramCall): Effect[] {
  if (!deletesArguments(code)) return [];
  const typed = stdin === 'none' ? [] : stdin.text.split(/\s+/).slice(0, 16);
  return [...args.filter((arg) => arg !== at).map(wordText), ...typed]
    .filter((word) => /^[/~]/.test(word))
    .map((word) => ({ does: 'perhaps', text: knownArg(`rm -rf ${quoteWord(word)}`, at) }));
}

/** The texts in which the patterns look for calls; gaps have one blank, because patterns match short ones only. */
function searched({ plain, comment }: Language, code: string): readonly string[] {
  if (plain !== undefined) return [plain(code)];
  const texts = comment === undefined ? [code] : [code, code.replace(comment, ' ')];
  return texts.map((text) => text.replace(/\s+/g, (gap) => (gap.includes('\n') ? '\n' : ' ')));
}

/** A number that is substituted into code is data. */
function onlyDataHoles(code: Arg): boolean {
  return code.pieces.every((piece) => typeof piece === 'string' || piece.hole === 'number');
}

const quoted = `(?:[rRbBfFuU]{0,2})(["'\`])((?:(?!\\1)[^\\\\]|\\\\.){0,2000})\\1`;
const callsShell = new RegExp(
  `(?:system|popen\\d?|Popen|exec\\w{0,9}|spawn\\w{0,9}|run|call|check_call|check_output|getoutput|shell_exec|passthru|execute|capture\\d?e?)\\s{0,9}\\(?\\s{0,9}\\[?\\s{0,9}${quoted}((?:\\s{0,9},\\s{0,9}\\[?\\s{0,9}(["'])(?:(?!\\4).){0,200}\\4){0,20})`,
  'g',
);
const quotedCommands =
  /`([^`]{1,500})`|(?:\bqx|%x)\s{0,9}(?:\{([^{}]{0,500})\}|\(([^()]{0,500})\)|\[([^\][]{0,500})\]|([^\w\s({[])(.{0,200}?)\5)/gs;
/** Perl and Ruby also write strings as `q(…)`, `qq{…}` and `%q[…]`. */
const perlQuoted =
  /\b(?:system|exec)\s{0,9}\(?\s{0,9}%?q[qw]?\s?(?:\(([^()]{0,2000})\)|\{([^{}]{0,2000})\}|\[([^\][]{0,2000})\]|\/([^/]{0,2000})\/|\|([^|]{0,2000})\|)/gi;
const deletes = new RegExp(
  `(?:rmtree|rm_rf?|rmSync|rmdirSync|rimraf|remove_tree|remove_dir_all|remove_entry|remove_entry_secure|remove_dir|rmdir|removeSync|emptyDirSync|\\brm|\\bdel(?=["'.]))(?:["']\\))?(?:\\.sync)?\\s{0,9}\\(?\\s{0,9}\\[?\\s{0,9}(?:path\\s?=\\s?|["']-\\w{1,4}["']\\s?,\\s?)?(?:[\\w.()"']{0,40}(?:Path|resolve|normalize|realpath|abspath|str)\\(\\s{0,9})?${quoted}`,
  'g',
);
/** The user's home as code writes it: `os.homedir()`, `Path.home()`, `os.path.expanduser('~')`. */
const deletesHome =
  /(?:rmtree|rm_rf?|rmSync|rmdirSync|rimraf|remove_tree|removeSync|emptyDirSync)\s{0,9}\(?\s{0,9}(?:[\w.]{0,40}\.)?(?:homedir\(\)|Path\.home\(\)|expanduser\(\s{0,9}["']~\/?["']|env\.HOME\b(?!\s{0,9}\+)|ENV\[["']HOME["']\]|environ\[["']HOME["']\]|Dir\.home\b|\$ENV\{["']?HOME["']?\})\)?\s{0,9}[,);\n}]/;
const unlinks = new RegExp(
  `\\b(?:unlink|unlinkSync|remove)\\s{0,9}\\(?\\s{0,9}(?:glob\\s{0,9}\\(?\\s{0,9})?${quoted}`,
  'g',
);
/** Deletes what a variable names; the variable may be any of the paths in the code. */
const deletesVariable =
  /(?:rmtree|rm_rf?|rmSync|rmdirSync|remove_tree|removeSync)\s{0,9}\(?\s{0,9}[$@]?[A-Za-z_]\w{0,40}\s{0,9}[,);\n]/;
const literalPaths = /(["'`])(\/[\w/*.-]{0,60}|~\/?)\1/g;
const pipes = /\bopen\b[^;\n]{0,60}?["']\s{0,9}\|\s{0,9}([^"'\n]{1,300})["']/g;
/** A string that is a whole destructive command. */
const commandStrings =
  /(["'`])((?:sudo\s{1,9})?(?:\/[a-z/]{1,20}\/)?(?:rm|dd|mkfs|chmod|chown|find|mv|wipefs|shred)[.\s](?:(?!\1)[^\\\n]){1,300})\1/g;
/** Tcl and Expect write commands without quotes. */
const bareCommands =
  /\b(?:exec|spawn|system)\s{1,9}((?:\/[a-z/]{1,20}\/)?(?:rm|dd|mkfs|chmod|chown|find|mv|wipefs|shred)[.\s][^\n;"'\][}{]{1,300})/g;
const opens = new RegExp(
  `\\b(open|openSync|writeFileSync|writeFile|createWriteStream)\\s{0,9}\\(?\\s{0,9}${quoted.replaceAll('\\1', '\\2')}(?:\\s{0,9},\\s{0,9}["']([^"']{0,20}))?`,
  'g',
);

/** Perl's `open` has the mode in the file name (`">f"`) or in the argument before it. */
const redirects = /\bopen\b[^;]{0,80}?["']\+?>>?(?:["']\s{0,9},\s{0,9}["']|\s{0,9})(\/dev\/[^"']{0,80})/g;

const bombs =
  /fork[\s(]{0,9}\)?\s{0,9}(?:while|until|for)\b|(?:while|until|loop)\b[^;]{0,200}?\bfork\b|while\s{0,9}\(?(?:1|True|true)\b[\s\S]{0,400}?\bfork\b/;

/** Translates what the code would run, delete or overwrite into shell commands for the danger rules. */
export function dangerIn(written: string, at: Arg, spawns: boolean): Effect[] {
  const code = written.replace(/\$?\{(?:os|path)\.sep\}/g, '/');
  const commands = [
    ...matches(callsShell, code).map(([, , first = '', rest = '']) => [first, ...listed(rest)].join(' ')),
    ...matches(quotedCommands, code).map(
      (found) => found.slice(1).findLast((text) => text !== undefined) ?? '',
    ),
    ...matches(perlQuoted, code).map((found) => found.slice(1).find((text) => text !== undefined) ?? ''),
    ...matches(deletes, code).map(([, , path = '']) => `rm -rf '${path}'`),
    ...matches(opens, code)
      .filter(
        ([, how = '', , path = '', mode = '']) =>
          path.startsWith('/') && (!how.startsWith('open') || /[wa+x]/.test(mode)),
      )
      .map(([, , , path = '']) => `: > '${path}'`),
    ...(code.length <= 65_536 && deletesHome.test(code) ? ['rm -rf ~'] : []),
    ...matches(unlinks, code).map(([, , path = '']) => `rm -f ${path.replace(/[^\w/.*?-]/g, '_')}`),
    ...(code.length <= 65_536 && deletesVariable.test(code)
      ? matches(literalPaths, withoutPrinted(code)).map(([, , path = '']) => `rm -rf ${path}`)
      : []),
    ...matches(pipes, code).map(([, text = '']) => text),
    ...(spawns ? matches(commandStrings, code).map(([, , text = '']) => text) : []),
    ...matches(bareCommands, code).map(([, text = '']) => text),
    ...matches(redirects, code).map(([, path = '']) => `: > '${path}'`),
    ...destructionIn(code),
  ];
  const bomb = (/\bfork\b/.test(code) && bombs.test(code)) || forksEndlessly(code);
  const effects: Effect[] = commands
    .slice(0, 32)
    .map((text) => ({ does: 'perhaps', text: knownArg(text.replace(/\\(["'\\])/g, '$1'), at) }));
  const danger: Effect = {
    does: 'danger',
    at,
    rule: 'fork_bomb',
    reason: 'the code starts copies of itself without end (a fork bomb)',
  };
  return bomb ? [...effects, danger] : effects;
}

function matches(pattern: RegExp, code: string): RegExpExecArray[] {
  return code.length > 65_536 ? [] : [...code.matchAll(pattern)];
}

function listed(rest: string): string[] {
  return [...rest.matchAll(/(["'])((?:(?!\1).){0,200})\1/g)].map(([, , word = '']) => `'${word}'`);
}
