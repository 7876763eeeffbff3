import { NacreError } from '../../contract/failure.ts';

/** Error for a command whose changes cannot be tracked or held here. */
export function changesUnavailable(reason: string): NacreError {
  return new NacreError(
    'isolation_unavailable',
    `Changes cannot be tracked or held here: ${reason}. Nothing was run.`,
    {
      hint: 'Set changes to direct, or run nacre doctor to see what is needed.',
    },
  );
}

/** A sentence for the reply to a tracked command whose changes could not be applied. */
export function notAppliedBecause(error: unknown): string {
  return `The changes of this command could not be applied, so they are held. ${error instanceof Error ? error.message : String(error)}`;
}

/** Error for an id without kept changes. */
export function changesNotFound(id: string): NacreError {
  return new NacreError('job_not_found', `No changes are kept for ${id}.`, {
    hint: 'List the kept changes; the oldest are removed first when they need too much space.',
  });
}

/** Error for applying changes that are already applied. */
export function alreadyApplied(id: string): NacreError {
  return new NacreError('invalid_request', `The changes of ${id} are already applied.`, {
    hint: 'Undo them, or list the changes that are held.',
  });
}

/** Error for undoing changes that are held, not applied. */
export function notApplied(id: string): NacreError {
  return new NacreError('invalid_request', `The changes of ${id} are held, so there is nothing to undo.`, {
    hint: 'Apply or discard them.',
  });
}

/** Error for a path outside of the workspace of a command. */
export function pathOutside(path: string, id: string): NacreError {
  return new NacreError('invalid_request', `${path} is not in the workspace of ${id}.`, {
    hint: 'Use paths from the list of changes.',
  });
}

/** Error for a path that none of the changes has. */
export function notChanged(path: string, id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${JSON.stringify(path)} is not one of the changed paths of ${id}. Nothing was done.`,
    {
      hint: 'Use paths from the list of changes. A folder that was deleted or replaced can only be named as a whole.',
    },
  );
}

/** Error for an empty path, or an empty list of paths: both could be mistaken for all paths. */
export function noPath(id: string): NacreError {
  return new NacreError('invalid_request', `An empty path was given for the changes of ${id}.`, {
    hint: 'Use paths from the list of changes, or omit paths to select all.',
  });
}

/** Error for a command that would run on top of too many held changes. */
export function tooManyHeld(most: number): NacreError {
  return new NacreError(
    'resources_unavailable',
    `More than ${most} commands have held changes, and this command would run on top of all of them. Nothing was run.`,
    { hint: 'Apply the oldest or discard the newest of them; nacre changes lists them.' },
  );
}
