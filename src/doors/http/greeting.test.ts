import { expect, test } from 'vitest';
import { createPageSessions } from './access/page-sessions.ts';
import { createSites } from './access/sites.ts';
import { toGreeting } from './greeting.ts';

const sites = createSites({ secure: true, host: '::1', port: 443, moreHosts: [], corsOrigins: [] });
const greet = (isNew: boolean) =>
  toGreeting(
    { flags: { json: false }, version: '1.2.3' },
    { sites, pages: createPageSessions() },
    { text: 'the-token', isNew },
  );

test('a new token is printed, with the configuration for an agent', () => {
  const text = greet(true);
  expect(text).toMatch(/^nacre 1\.2\.3 serves on https:\/\/\[::1\]\n/);
  expect(text).toMatch(/https:\/\/\[::1\]\/open\?ticket=[\w-]+/);
  expect(text).toContain('"Authorization": "Bearer the-token"');
});

test('H10: a configured token is not printed', () => {
  expect(greet(false)).not.toContain('the-token');
});
