import { expect, test } from 'vitest';
import { knownClients } from '../../clients/known-clients.ts';
import { replyLimitsFor, replyShapeFor } from './reply-for.ts';

test('T2: only auto depends on the client', () => {
  expect(replyShapeFor('claude-code', 'auto')).toBe('text');
  expect(replyShapeFor('unknown', 'auto')).toBe('both');
  for (const shape of ['both', 'text', 'data'] as const)
    expect(replyShapeFor('claude-code', shape)).toBe(shape);
});

test('T2: replies stay below the measured limits, and below 2,000 lines for every client', () => {
  expect(replyLimitsFor('unknown')).toEqual({ maxLines: 1_900, isMeasured: false });
  expect(replyLimitsFor('@cline/core').maxBytes).toBeLessThan(knownClients.cline?.maxChars ?? 0);
  expect(replyLimitsFor('opencode').maxLines).toBeLessThan(2_000);
});
