import type { Rules } from '../contract/decision.ts';
import type { ExecList } from '../contract/isolation.ts';
import { helpersOf } from './closed-programs.ts';
import { programOfEntry } from './entry-words.ts';

const maxLists = 64;
const listOf = new WeakMap<Rules, ExecList | 'any'>();
// Doors may create their rules for every call; equal ones share one list.
const listNamed = new Map<string, ExecList>();

/** The programs that rules allow, for the kernel; `any` if that is every program. */
export function execListFor(rules: Rules): ExecList | 'any' {
  const known = listOf.get(rules);
  if (known !== undefined) return known;
  const names = [...new Set(namesIn(rules))];
  const list = names.includes('*') ? 'any' : sharedList(names);
  listOf.set(rules, list);
  return list;
}

/** Says which helpers the programs of a list need, and which of them are open. */
export function toExecList(names: readonly string[]): ExecList {
  const known = names.map((name) => ({ name, helpers: helpersOf(name) }));
  const all = known.flatMap(({ helpers }) => helpers ?? []);
  return {
    names,
    helpers: {
      names: [...new Set(all.flatMap((one) => one.names))],
      folders: [...new Set(all.flatMap((one) => one.folders))],
    },
    open: known.flatMap(({ name, helpers }) => (helpers ? [] : [name])),
  };
}

function namesIn({ allow, policy = [] }: Rules): readonly string[] {
  const listed = allow.kind === 'all' ? ['*'] : allow.kind === 'names' ? allow.names.map(programOfEntry) : [];
  return [...listed, ...policy.filter(({ verdict }) => verdict === 'allow').map(({ program }) => program)];
}

function sharedList(names: readonly string[]): ExecList {
  const key = names.join('\n');
  const list = listNamed.get(key) ?? toExecList(names);
  if (listNamed.size >= maxLists) listNamed.clear();
  listNamed.set(key, list);
  return list;
}
