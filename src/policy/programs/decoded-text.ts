import { withoutTrailing } from '../../support/without-trailing.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { wordText } from '../words/arg.ts';
import { normalisePath } from '../words/paths.ts';

/** Programs whose output follows from known words or known input. */
export const decoders: ReadonlySet<string> = new Set(
  'rev tr xxd cut sed pwd dirname basename realpath readlink'.split(' '),
);

/** The output of such a program; undefined if it is not known. */
export function decodedText(call: ProgramCall): string | undefined {
  const { stdin, name } = call;
  if (name === 'pwd') return workingDirectory(call);
  if (pathPrograms.has(name)) return printedPaths(call);
  if (stdin === 'none' || stdin.more) return undefined;
  if (name === 'rev') return call.args.length === 0 ? reversed(stdin.text) : undefined;
  if (name === 'cut') return cutLines(call, stdin.text);
  if (name === 'sed') return substituted(call, stdin.text);
  return name === 'xxd' ? fromHex(call, stdin.text) : translated(call, stdin.text);
}

const pathPrograms = new Set('dirname basename realpath readlink'.split(' '));

/** Only a directory that certainly exists is known: `cd` to another one may have failed. */
function workingDirectory({ args, cwd, home }: ProgramCall): string | undefined {
  const [only, ...others] = cwd ?? [];
  if (!/^(?:-[LP])?$/.test(args.map(wordText).join(' ')) || only === undefined || others.length > 0)
    return undefined;
  return only === home || topLevel.test(only) ? `${only}\n` : undefined;
}

// Programs in /bin and /sbin match a list by their names, so that these paths must be certain.
const topLevel = /^\/(?!s?bin$)[a-z]*$/;

/** `dirname` and `basename` cut a path; a top-level directory is also what `realpath` and `readlink -f` print for it. */
function printedPaths({ args, name }: ProgramCall): string | undefined {
  const [path, ...others] = args.filter((arg) => !/^-[fmez]$|^--$/.test(wordText(arg)));
  if (path?.text === undefined || others.length > 0 || path.text.startsWith('-')) return undefined;
  const whole = withoutTrailing(path.text, '/') || (path.text === '' ? '' : '/');
  const slash = whole.lastIndexOf('/');
  if (name === 'basename') return `${whole === '/' ? whole : whole.slice(slash + 1)}\n`;
  if (name === 'dirname') return `${slash < 0 ? '.' : withoutTrailing(whole.slice(0, slash), '/') || '/'}\n`;
  const canonical = normalisePath(path.text, undefined);
  return canonical !== undefined && topLevel.test(canonical) ? `${canonical}\n` : undefined;
}

/** The text after `cut -c2-`, `cut -c1` or `cut -d: -f2`: characters or one field of each line. */
function cutLines({ args }: ProgramCall, text: string): string | undefined {
  const words = args.map(wordText).join(' ');
  if (!/^[\0-\x7f]*$/.test(text)) return undefined;
  const [, first, range, last] = /^-[cb] ?(\d{1,4})(-?)(\d{0,4})$/.exec(words) ?? [];
  if (first !== undefined) {
    const end = range === '' ? Number(first) : last === '' ? text.length : Number(last);
    return eachLine(text, (line) => line.slice(Number(first) - 1, end));
  }
  const [, delimiter = '\t', field] = /^(?:-d ?(.) )?-f ?(\d{1,3})$/.exec(words) ?? [];
  if (field === undefined) return undefined;
  return eachLine(text, (line) =>
    line.includes(delimiter) ? (line.split(delimiter)[Number(field) - 1] ?? '') : line,
  );
}

function eachLine(text: string, change: (line: string) => string): string {
  const lines = text.split('\n');
  // After the last newline, there is no further line.
  const rest = lines.at(-1) === '' ? lines.pop() : undefined;
  return [...lines.map(change), ...(rest === undefined ? [] : [rest])].join('\n');
}

const substitution =
  /[\s;]*s([/|,#!@%:])((?:\\.|(?!\1)[^\\\n]){1,200})\1((?:\\.|(?!\1)[^\\\n]){0,400})\1(g?)[\s;]*/y;

/** The text after `sed` with commands such as `s/a/b/`; undefined if a pattern has more than text, `^`, `$`, `.`, `.*` and simple sets. */
function substituted({ args }: ProgramCall, text: string): string | undefined {
  const words = args.map(wordText);
  const scripts =
    words.length === 1
      ? words
      : words.every((word, at) => at % 2 > 0 || word === '-e')
        ? words.filter((_, at) => at % 2 > 0)
        : [];
  if (scripts.length === 0 || text.length > 4_096) return undefined;
  let result = text;
  for (const script of scripts)
    for (substitution.lastIndex = 0; substitution.lastIndex < script.length; ) {
      const [, delimiter = '/', from = '', to = '', flag = ''] = substitution.exec(script) ?? [];
      const pattern = from === '' ? undefined : toPattern(from, delimiter, flag);
      const added = to.replaceAll(`\\${delimiter}`, delimiter);
      if (pattern === undefined || /[\\&]/.test(added)) return undefined;
      result = eachLine(result, (line) => line.replace(pattern, () => added));
    }
  return result;
}

/** Translates a basic regular expression to JavaScript; undefined if it has more than one repetition, a group or another escape. */
function toPattern(from: string, delimiter: string, flag: string): RegExp | undefined {
  const text = from.replaceAll(`\\${delimiter}`, delimiter);
  const [, start = '', middle = '', end = ''] =
    /^(\^?)((?:[^\\*[\]^$]|\.\*|\[\^?[\w /]{1,40}\])*)(\$?)$/.exec(text) ?? [text];
  if ((start + middle + end).length < text.length || middle.split('.*').length > 2) return undefined;
  return new RegExp(start + middle.replace(/[+?{}()|]/g, '\\$&') + end, flag);
}

function reversed(text: string): string {
  return text
    .split('\n')
    .map((line) => [...line].reverse().join(''))
    .join('\n');
}

function fromHex({ args }: ProgramCall, text: string): string | undefined {
  const letters = args.map(wordText).join('').replaceAll('-', '');
  const digits = text.replace(/\s/g, '');
  if (!/^(?:rp|pr)(?:rp|ps|p|r)?$/.test(letters) || !/^(?:[0-7][0-9a-f])*$/i.test(digits)) return undefined;
  return digits.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

function translated({ args }: ProgramCall, text: string): string | undefined {
  const [one, other, ...more] = args.map(wordText);
  if (one === undefined || other === undefined || more.length > 0) return undefined;
  if (one === '-d') return withoutAny(text, expandSet(other));
  const from = expandSet(one);
  const to = expandSet(other);
  if (from === undefined || to === undefined || to.length === 0) return undefined;
  const table = new Map(from.map((character, index) => [character, to[index] ?? to.at(-1) ?? '']));
  return [...text].map((character) => table.get(character) ?? character).join('');
}

function withoutAny(text: string, set: readonly string[] | undefined): string | undefined {
  return set && [...text].filter((character) => !set.includes(character)).join('');
}

/** Expands ranges in a set of `tr`; undefined for options, classes and escapes. */
function expandSet(set: string): readonly string[] | undefined {
  if (!/^[\x20-\x7e]*$/.test(set) || /^-|\\|\[[:=.]|\*\d*\]/.test(set)) return undefined;
  const characters: string[] = [];
  for (let at = 0; at < set.length; at++) {
    const isRange = set.charAt(at + 1) === '-' && at + 2 < set.length;
    const last = isRange ? set.charCodeAt(at + 2) : set.charCodeAt(at);
    for (let code = set.charCodeAt(at); code <= last; code++) characters.push(String.fromCharCode(code));
    if (isRange) at += 2;
  }
  return characters;
}
