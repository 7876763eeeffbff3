// `nacre audit prune`: a person removes everything beyond the limits at once; servers remove one day's worth at a time.
import { createAuditIndex } from '../../audit/audit-index.ts';
import { readAuditKey } from '../../audit/audit-key.ts';
import type { PruneChoice } from '../../audit/choose-pruned.ts';
import { planPrune, removeFiles } from '../../audit/prune.ts';
import { NacreError } from '../../contract/failure.ts';
import { createAsk } from '../ask.ts';
import type { Io, IoAccess, PlaceAccess } from '../door.ts';
import { print } from '../print.ts';

/** Shows the files beyond `audit_keep_days` and `audit_max_bytes`, asks, and removes them. */
export async function pruneAudit(
  { io, places: { audit } }: IoAccess & PlaceAccess,
  { json, yes }: { readonly json: boolean; readonly yes: boolean },
): Promise<number> {
  const choice = planPrune(audit.dir, audit.retention, new Date());
  if (!json) await print(io.stdout, describe(choice));
  const isWanted = choice.files.length > 0 && (yes || (await isConfirmed(io)));
  if (isWanted) {
    const key = audit.keyPath === undefined ? undefined : readAuditKey(audit.keyPath);
    removeFiles(audit.dir, createAuditIndex(audit.dir, { key, durable: true }), choice);
  }
  const removed = isWanted ? choice.files.map(({ name }) => name) : [];
  await print(
    io.stdout,
    json ? `${JSON.stringify({ removed })}\n` : `${removed.length} files were removed.\n`,
  );
  return 0;
}

function describe({ files }: PruneChoice): string {
  if (files.length === 0) return 'No file is beyond audit_keep_days or audit_max_bytes.\n';
  return `Beyond audit_keep_days or audit_max_bytes:\n${files.map(({ name, bytes }) => `  ${name} (${bytes} bytes)\n`).join('')}`;
}

async function isConfirmed(io: Io): Promise<boolean> {
  const ask = createAsk(io);
  if (ask === undefined)
    throw new NacreError(
      'invalid_request',
      'nacre audit prune asks before it removes records, but stdin is not a terminal.',
      { hint: 'Run it at a terminal, or pass --yes; nothing was removed.' },
    );
  try {
    return await ask.one('Remove these records for good? [y/N] ', (answer) => /^y(?:es)?$/i.test(answer));
  } finally {
    ask.close();
  }
}
