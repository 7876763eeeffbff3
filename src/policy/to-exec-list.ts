import type { ExecList } from '../contract/isolation.ts';
import { helpersOf } from './closed-programs.ts';

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
