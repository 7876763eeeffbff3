import type { Page } from 'playwright-core';
import type { openBrowser } from './browser.ts';
import type { TestServer } from './http.ts';

/** A page, and its problems: errors, and violations of its policy. */
export interface WatchedPage {
  readonly page: Page;
  readonly problems: string[];
}

/** Opens the console in a browser by a link, as an operator or a viewer. */
export async function openConsolePage(
  browser: Awaited<ReturnType<typeof openBrowser>>,
  server: Pick<TestServer, 'address' | 'post'>,
  { role = 'operator', name = 'desk', path = '/' }: { role?: string; name?: string; path?: string } = {},
): Promise<WatchedPage> {
  const page = await browser.context.newPage();
  page.setDefaultTimeout(120_000);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', ({ message }) => problems.push(message));
  const { body } = await server.post('/api/link', { role, name });
  await page.goto(String(body.link));
  await page.getByRole('button', { name: 'Open nacre' }).click();
  await page.waitForURL(`${server.address}/`);
  await page.getByRole('navigation', { name: 'Where you are' }).waitFor();
  if (path !== '/') await page.goto(`${server.address}${path}`);
  return { page, problems };
}
