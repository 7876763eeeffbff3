// GET /api/changes and /api/changes/ID; POST /api/changes/ID/apply, discard and undo.
import { z } from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { receive } from '../../../tools/common/define-tool.ts';
import { toChangesReply } from '../../../tools/common/describe-changes.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import { type Exchange, type Reply, toJsonReply } from '../requests/raw-http.ts';
import { readJson } from '../requests/read-body.ts';

/** Dependencies of the endpoints for changes. */
export interface ChangesDeps {
  readonly engine: () => Promise<Engine>;
}

/** The schema of the body of POST /api/changes/ID/apply, discard and undo. */
export const changesRequest = z.strictObject({
  paths: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(1_000)
    .optional()
    .describe('Only these files or folders; all by default.'),
  force: z.boolean().default(false).describe('Also replaces files that another program has changed since.'),
});

const showLimits = { maxFiles: 1_000, maxChars: 200_000 };

/** Serves GET /api/changes: the changes of the caller's commands that are held or can be undone. */
export async function serveChangesList({ engine }: ChangesDeps, caller: HttpCaller): Promise<Reply> {
  const entries = await (await engine()).changes.list(toContext(caller));
  const changes = entries.map(({ owner: _owner, ...entry }) => entry);
  return toJsonReply(200, { changes });
}

/** Serves GET /api/changes/ID: the changed paths, with a diff of text files. */
export async function serveChanges({ engine }: ChangesDeps, caller: HttpCaller, id: string): Promise<Reply> {
  const shown = await (await engine()).changes.show({ id }, showLimits, toContext(caller));
  return toJsonReply(200, { ...toChangesReply(shown), changes: shown.changes });
}

/** Serves POST /api/changes/ID/ACTION. */
export async function actOnChanges(
  { engine }: ChangesDeps,
  caller: HttpCaller,
  { id, action }: { readonly id: string; readonly action: 'apply' | 'discard' | 'undo' },
  { incoming }: Pick<Exchange, 'incoming'>,
): Promise<Reply> {
  const request = receive(`POST /api/changes/${id}/${action}`, changesRequest, await readJson(incoming));
  const { changes } = await engine();
  return toJsonReply(200, toChangesReply(await changes[action]({ id, ...request }, toContext(caller))));
}

function toContext(caller: HttpCaller) {
  return { caller: toCaller(caller), owner: caller.owner };
}
