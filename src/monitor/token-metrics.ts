import type { AuditRecord } from '../audit/read-records.ts';
import { createMetrics, type Gauges, type Metrics } from './metrics.ts';

/** Counters over all records, and separately over those of each named token. */
export interface TokenMetrics {
  observe(record: AuditRecord): void;
  toText(gauges: Gauges): string;
  /** The metrics of one token, without the gauges, which are about all callers. */
  toTextOf(token: string): string;
}

/** Creates counters that start at 0; records name only tokens of the settings, so there are not many. */
export function createTokenMetrics(): TokenMetrics {
  const all = createMetrics();
  const byToken = new Map<string, Metrics>();
  const metricsOf = (token: string) => {
    const known = byToken.get(token) ?? createMetrics();
    byToken.set(token, known);
    return known;
  };
  return {
    observe(record) {
      all.observe(record);
      if (typeof record.token === 'string') metricsOf(record.token).observe(record);
    },
    toText: all.toText,
    toTextOf: (token) => metricsOf(token).toText(),
  };
}
