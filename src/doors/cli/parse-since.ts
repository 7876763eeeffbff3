import { NacreError } from '../../contract/failure.ts';

const units: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `--since`: an age (`90min`, `2d`), a date or a full timestamp. */
export function parseSince(text: string, now: number = Date.now()): string {
  const [, amount, unit = ''] = /^(\d{1,9})(s|min|h|d)$/.exec(text) ?? [];
  if (amount !== undefined) return new Date(now - Number(amount) * (units[unit] ?? 0)).toISOString();
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new NacreError('invalid_request', `--since: ${JSON.stringify(text)} is not a time.`, {
    hint: 'Use an age (30s, 90min, 12h, 7d), a date (2026-01-31) or a timestamp (2026-01-31T12:00:00Z).',
  });
}
