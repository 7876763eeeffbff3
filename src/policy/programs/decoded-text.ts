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
  if (name === 'cut') return withoutBeginning(call, stdin.text);
  if (name === 'sed') return substituted(call, stdin.text);
  return name === 'xxd' ? fromHex(call, stdin.text) : translated(call, stdin.text);
}

const pathPrograms = new Set('dirname basename realpath readlink'.split(' '));

/** Only a directory that certainly exists is known: `cd` to another one may have failed. */
function workingDirectory({ args, cwd, home }: ProgramCall): string | undefined {
  const [only, ...others] = cwd ?? [];
  if (args.length > 0 || only === undefined || others.length > 0) return undefined;
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

/** `cut -c2-` removes the first characters of each line. */
function withoutBeginning({ args }: ProgramCall, text: string): string | undefined {
  const [, first] = /^-[cb](\d{1,4})-$/.exec(args.map(wordText).join('')) ?? [];
  if (first === undefined || !/^[\0-\x7f]*$/.test(text)) return undefined;
  return text
    .split('\n')
    .map((line) => line.slice(Number(first) - 1))
    .join('\n');
}

/** `sed s/a/b/` with plain text on both sides. */
function substituted({ args }: ProgramCall, text: string): string | undefined {
  const [script, ...others] = args.map(wordText);
  if (script === undefined || others.length > 0) return undefined;
  const [, , from, to = '', flag] = /^s([/|,#!])([\w @%=:-]+)\1([\w /@%=:;.~*-]*)\1(g?)$/.exec(script) ?? [];
  if (from === undefined) return undefined;
  return text
    .split('\n')
    .map((line) => (flag === 'g' ? line.replaceAll(from, () => to) : line.replace(from, () => to)))
    .join('\n');
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
