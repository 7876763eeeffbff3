// Whether the kernel can restrict commands to a list: only if the files that every listed program executes are known.
// The helpers are part of each program's entry (`ProgramEntry.closed`); the programs of `isPlainProgram` and bash's
// builtins need none.
import { programNamed, programs } from './programs/catalog.ts';
import { isPlainProgram } from './programs/plain-programs.ts';

/** Programs that a program executes to do its work: other programs by name, and folders of them. */
export interface ProgramHelpers {
  readonly names: readonly string[];
  readonly folders: readonly string[];
}

// Builtins without an entry; the shell itself is always allowed, and executes only what the kernel allows.
const builtins = new Set(
  `: [[ bg break caller compopt continue dirs disown exit fg help history logout return suspend times type ulimit umask
  unalias`.split(/\s+/),
);

const systemFolders = /^(?:\/usr(?:\/local)?)?\/s?bin\//;

/** The names of closed programs that have an entry, without builtins. */
export const closedPrograms: readonly string[] = programs
  .filter(({ builtin }) => builtin !== 'only')
  .flatMap(({ names, closed, open = [] }) => (closed ? names.filter((name) => !open.includes(name)) : []));

/** The helpers of a listed program; undefined if the program is open. */
export function helpersOf(listed: string): ProgramHelpers | undefined {
  const name = listed.replace(systemFolders, '');
  const needed = isPlainProgram(name) || builtins.has(name) ? [] : helpersOfEntry(name);
  return needed && { names: needed.filter((one) => !isFolder(one)), folders: needed.filter(isFolder) };
}

function helpersOfEntry(name: string): readonly string[] | undefined {
  const entry = programNamed(name);
  if (entry === undefined || entry.open?.includes(name)) return undefined;
  return entry.builtin === 'only' ? [] : entry.closed;
}

function isFolder(helper: string): boolean {
  return helper.startsWith('/');
}
