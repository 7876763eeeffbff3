import { NacreError } from '../../contract/failure.ts';

/** Does something to a folder of ours; where somebody has closed or replaced it, says so. */
export function useOwnFolder<T>(folder: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('resources_unavailable', `Cannot use nacre's own folder ${folder}: ${reason}`, {
      hint: 'Nothing was run. Open the way to it again, or set state_dir to another folder.',
      cause,
    });
  }
}
