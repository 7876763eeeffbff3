import { NacreError } from '../../contract/failure.ts';

/** Runs `step` on a folder of nacre's own; an error becomes a `NacreError` that names the folder. */
export function useOwnFolder<T>(folder: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('resources_unavailable', `Cannot use nacre's own folder ${folder}: ${reason}`, {
      hint: 'Nothing was run. Make the folder accessible again, or set state_dir to another folder.',
      cause,
    });
  }
}
