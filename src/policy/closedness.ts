// Whether the kernel can hold commands to an allow list: only if every listed program is closed, that is, if it needs no other
// programs than listed ones and helpers that are known.
import { programOfEntry } from './list-entry.ts';
import { programNamed } from './programs/catalog.ts';
import { isPlainProgram } from './programs/plain-programs.ts';
import { baseName } from './words/paths.ts';

/** A listed program that may run anything. */
export interface OpenProgram {
  readonly program: string;
  readonly reason: string;
}

/** The result of `closedness`; a list is closed if `open` is empty. */
export interface Closedness {
  readonly closed: boolean;
  /** Programs that the listed ones start to do their work. */
  readonly helpers: readonly string[];
  readonly open: readonly OpenProgram[];
}

const compiler = ['as', 'cc1', 'cc1plus', 'collect2', 'ld', 'lto1'];

/** Closed programs without an entry of their own. */
const others: Readonly<Record<string, readonly string[]>> = {
  egrep: ['grep', 'sh'],
  fgrep: ['grep', 'sh'],
  which: ['sh'],
  file: [],
  gcc: compiler,
  cc: compiler,
  'g++': compiler,
  'c++': compiler,
};

/** Builtins of bash without an entry; the shell itself is always allowed. */
const builtins = new Set(
  'bg caller cd dirs disown fg help history logout pwd suspend times type ulimit umask'.split(' '),
);

/** Decides whether every program of an allow list is closed, and explains which are not. */
export function closedness(entries: readonly string[]): Closedness {
  const open: OpenProgram[] = [];
  const helpers = new Set<string>();
  for (const program of new Set(entries.map(programOfEntry))) {
    const needed = helpersOfClosed(program);
    if (needed === undefined) open.push({ program, reason: openReason(program) });
    else for (const helper of needed) helpers.add(helper);
  }
  return { closed: open.length === 0, helpers: [...helpers].sort(), open };
}

function helpersOfClosed(program: string): readonly string[] | undefined {
  const name = /^\/(?:usr\/)?s?bin\/[^/]+$/.test(program) ? baseName(program) : program;
  if (name.includes('/')) return undefined;
  if (isPlainProgram(name) || builtins.has(name)) return [];
  if (Object.hasOwn(others, name)) return others[name];
  const entry = programNamed(name);
  return entry?.builtin === 'only' ? [] : entry?.closed;
}

function openReason(program: string): string {
  if (program === '*') return 'every program is listed';
  if (program.includes('/')) return 'a program by its path may run anything';
  return programNamed(program) === undefined
    ? 'it is not known which programs it runs'
    : 'by its nature it runs other programs or code that is not known before';
}
