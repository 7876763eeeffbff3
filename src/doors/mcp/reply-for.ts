import { findKnownClient } from '../../clients/known-clients.ts';
import type { ReplyLimits, ReplyShape } from '../../contract/reply.ts';

/** The shape of replies to a client under the setting `reply`; an unknown client gets both parts. */
export function replyShapeFor(client: string, setting: ReplyShape | 'auto'): ReplyShape {
  return setting === 'auto' ? (findKnownClient(client)?.reply ?? 'both') : setting;
}

// Some clients cut at 2,000 lines.
const maxLines = 1_900;
// Clients count a little more than the text, such as the JSON around it.
const usedShare = 0.95;

/** The size of a reply that a client passes on to its model completely. */
export function replyLimitsFor(client: string): ReplyLimits {
  const known = findKnownClient(client);
  if (!known) return { maxLines, isMeasured: false };
  const { maxChars } = known;
  const maxBytes = maxChars === undefined ? undefined : Math.floor(maxChars * usedShare);
  return { maxLines: Math.min(maxLines, known.maxLines ?? maxLines), maxBytes, isMeasured: true };
}
