import type { Declarations } from '../settings/define.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import type { DoorDefinition, DoorEntry } from './door.ts';
import { sharedFlags } from './shared-flags.ts';

/** Declares a door; `load` imports its module when it is opened. */
export function defineDoor<const Flags extends Declarations>(definition: DoorDefinition<Flags>): DoorEntry {
  const { load, workingDir, prepare, ...entry } = definition;
  return {
    ...entry,
    parse(given) {
      const flags = resolveCandidates({ flags: given }, { ...entry.flags, ...sharedFlags }).values;
      return {
        shared: resolveCandidates({ flags: given }, sharedFlags).values,
        workingDir: workingDir?.(resolveCandidates({ flags: given }, entry.flags).values),
        prepare: async (deps) => (await prepare?.({ ...deps, flags })) ?? false,
        async open(deps) {
          const door = await load();
          return door({ ...deps, flags });
        },
      };
    },
  };
}
