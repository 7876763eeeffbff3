// Calls about changes that commands have made: list, show, apply, discard, undo. Changes are found by owner; those of
// another owner are "not found". Every call that changes the workspace or forgets changes is recorded.
import type { ShowLimits, ShownChanges } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { ChangesAction, ChangesEntry, ChangesResult } from '../../contract/changes.ts';
import { NacreError } from '../../contract/failure.ts';
import type { EngineDeps } from '../context/engine-deps.ts';

/** The caller of a call about changes; without `owner` it is the local user, who sees all changes. */
export interface ChangesContext {
  readonly caller: Caller;
  readonly owner?: string | undefined;
}

/** The calls about kept changes, for tools and doors. */
export interface Changes {
  /** Why changes cannot be tracked or held in the server's directory, or null; tries it. */
  fault(): Promise<string | null>;
  /** Lists kept changes, the oldest first. */
  list(context: ChangesContext): Promise<readonly ChangesEntry[]>;
  show(action: ChangesAction, limits: ShowLimits, context: ChangesContext): Promise<ShownChanges>;
  apply(action: ChangesAction, context: ChangesContext): Promise<ChangesResult>;
  discard(action: ChangesAction, context: ChangesContext): Promise<ChangesResult>;
  undo(action: ChangesAction, context: ChangesContext): Promise<ChangesResult>;
  /** Undoes everything that was applied by this command and later ones, or since this time, the newest first. */
  undoTo(to: string, force: boolean, context: ChangesContext): Promise<readonly ChangesResult[]>;
}

/** The calls about changes that tools make. */
export type ToolChanges = Omit<Changes, 'fault' | 'undoTo'>;

/** Creates the engine's calls about changes. */
export function createChanges({ backend, audit }: Pick<EngineDeps, 'backend' | 'audit'>): Changes {
  const find = async ({ id }: ChangesAction, { owner }: ChangesContext) => {
    const found = (await backend.listChanges(owner)).find((entry) => entry.id === id);
    if (!found) throw changesNotFound(id);
    return found;
  };
  const act = async (
    name: 'apply' | 'discard' | 'undo',
    action: ChangesAction,
    context: ChangesContext,
  ): Promise<ChangesResult> => {
    const { asksUser } = await find(action, context);
    const { caller, owner } = context;
    if (name === 'apply' && asksUser && owner !== undefined) throw userApplies(action.id);
    audit.record({ kind: 'changes', id: action.id, caller, action: name, paths: action.paths ?? [] });
    return backend[`${name}Changes`](action);
  };
  const undo = (action: ChangesAction, context: ChangesContext) => act('undo', action, context);
  return {
    fault: () => backend.changesFault(),
    list: ({ owner }) => backend.listChanges(owner),
    async show(action, limits, context) {
      await find(action, context);
      return backend.showChanges(action, limits);
    },
    apply: (action, context) => act('apply', action, context),
    discard: (action, context) => act('discard', action, context),
    undo,
    async undoTo(to, force, context) {
      const entries = await backend.listChanges(context.owner);
      const results: ChangesResult[] = [];
      for (const id of chooseSince(entries, to).reverse()) results.push(await undo({ id, force }, context));
      return results;
    },
  };
}

function chooseSince(entries: readonly ChangesEntry[], to: string): string[] {
  const start = entries.findIndex(({ id }) => id === to);
  const isTime = /^\d{4}-\d\d-\d\dT/.test(to);
  if (start < 0 && !isTime) throw to.startsWith('cmd_') ? changesNotFound(to) : notATime(to);
  return entries
    .filter((entry, index) => (start < 0 ? entry.endedAt >= to : index >= start))
    .filter(({ state }) => state !== 'held')
    .map(({ id }) => id);
}

function notATime(to: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${JSON.stringify(to)} is neither the id of a command nor a time.`,
    {
      hint: 'Use an id that nacre changes lists, an age (30s, 90min, 12h, 7d), a date (2026-01-31) or a timestamp (2026-01-31T12:00:00Z).',
    },
  );
}

function userApplies(id: string): NacreError {
  return new NacreError('approval_required', `The user has to approve the changes of ${id}.`, {
    hint: `Ask the user to review them (nacre changes ${id}) and to run nacre apply ${id}.`,
  });
}

function changesNotFound(id: string): NacreError {
  return new NacreError('job_not_found', `No changes are kept for ${JSON.stringify(id)}.`, {
    hint: 'List the kept changes; the oldest are removed first when they need too much space.',
  });
}
