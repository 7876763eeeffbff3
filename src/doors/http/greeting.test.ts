import { expect, test } from 'vitest';
import { toGreeting } from './greeting.ts';
import { createPageSessions } from './page-sessions.ts';
import { createSites } from './sites.ts';

const sites = createSites({ secure: true, host: '::1', port: 443, moreHosts: [], corsOrigins: [] });
const greet = (isNew: boolean) =>
  toGreeting(
    { flags: {}, version: '1.2.3' },
    { sites, pages: createPageSessions() },
    { text: 'the-token', isNew },
  );

test('a new token is shown once, with what an agent needs', () => {
  const text = greet(true);
  expect(text).toMatch(/^nacre 1\.2\.3 serves on https:\/\/\[::1\]\n/);
  expect(text).toMatch(/https:\/\/\[::1\]\/open\?ticket=[\w-]+/);
  expect(text).toContain('"Authorization": "Bearer the-token"');
});

test('H10: a token that was given is not shown', () => {
  expect(greet(false)).not.toContain('the-token');
});
