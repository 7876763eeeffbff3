import { NacreError } from '../../contract/failure.ts';
import { listEntries, readStoredEntry, type StoredEntry } from './entries.ts';

/** Throws if the changes on top of which an entry was made are held: they must be applied first. */
export function checkBelow({ id, onTopOf, store }: StoredEntry): void {
  const below = onTopOf.find((one) => readStoredEntry(store, one)?.state === 'held');
  if (below === undefined) return;
  throw new NacreError(
    'invalid_request',
    `The changes of ${id} were made on top of those of ${below}, which are held.`,
    { hint: `Apply ${below} first.` },
  );
}

/** Throws if held changes were made on top of those of an entry: they must be discarded first. */
export async function checkAbove({ id, store }: StoredEntry): Promise<void> {
  const entries = await listEntries(store);
  const above = entries.find((one) => one.state === 'held' && one.onTopOf.includes(id));
  if (above === undefined) return;
  throw new NacreError('invalid_request', `The changes of ${above.id} were made on top of those of ${id}.`, {
    hint: `Discard ${above.id} first.`,
  });
}
