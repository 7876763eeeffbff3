import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage, type WatchedPage } from '../support/console-browser.ts';
import { type Cut, createCut } from '../support/cut.ts';
import { serve, type TestServer } from '../support/http.ts';
import { startRunning } from '../support/running-command.ts';

let here: TestServer;
let cut: Cut;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  here = await serve({ env: { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' } });
  cut = await createCut(here.port);
  browser = await openBrowser({ viewport: { width: 1280, height: 800 } }, [cut.browserArg]);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await cut.close();
  expect(await here.close()).toEqual([]);
});

// How far the page is higher than the window.
const overflowOf = ({ page }: WatchedPage) =>
  page.evaluate('document.documentElement.scrollHeight - innerHeight') as Promise<number>;

// 1280 by 800 pixels at 400 %.
const zoomed = { width: 320, height: 200 };

test('at a zoom of 400 % at least half of the window is left for the content', {
  timeout: 120_000,
}, async () => {
  const { page, problems } = await openConsolePage(browser, here, { role: 'viewer', path: '/audit' });
  await page.locator('.audit-list li').first().waitFor();
  await page.setViewportSize(zoomed);
  const covered = () =>
    page.evaluate(`(() => {
      scrollTo(0, 300);
      return [...document.querySelectorAll('body *')]
        .filter((one) => ['fixed', 'sticky'].includes(getComputedStyle(one).position) && one.checkVisibility())
        .map((one) => one.getBoundingClientRect())
        .reduce((sum, { top, bottom }) => sum + Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)), 0);
    })()`) as Promise<number>;
  expect(await covered()).toBeLessThanOrEqual(zoomed.height / 2);
  expect(problems).toEqual([]);
  await page.close();
});

describe('the page of a command', { timeout: 300_000 }, () => {
  test('is as high as the window, also with a line in its header', async () => {
    const { id, stop } = await startRunning(here, 'seq 1000; sleep 3109', '3109');
    for (const role of ['operator', 'viewer']) {
      const watched = await openConsolePage(browser, here, { role, path: `/commands/${id}` });
      await watched.page.locator('.log .ln').first().waitFor();
      expect(await watched.page.locator('.line.viewer').count()).toBe(role === 'viewer' ? 1 : 0);
      expect(await overflowOf(watched)).toBe(0);
      await watched.page.goto(`${here.address}/approvals`);
      await watched.page.getByRole('heading', { name: 'Approvals' }).first().waitFor();
      expect(await overflowOf(watched)).toBe(0);
      expect(watched.problems).toEqual([]);
      await watched.page.close();
    }
    await stop();
  });

  test('keeps the lines that are read in their places when something above the output appears or goes', async () => {
    const { id, stop } = await startRunning(here, 'seq -f "row %g" 1000; sleep 3110', '3110');
    const watched = await openConsolePage(browser, here, { path: `/commands/${id}` });
    const { page } = watched;
    page.setDefaultTimeout(20_000);
    await page.locator('.live').getByText('1,000 lines').waitFor();
    const log = page.locator('.log');
    await log.evaluate((view) => view.scrollTo(0, 8_000));
    await page.getByRole('button', { name: 'Follow', exact: true }).waitFor();
    const row = page.locator('.log .ln').filter({ hasText: /row 410$/ });
    await row.waitFor();
    const heightOf = async () => (await log.boundingBox())?.height ?? 0;
    // In one step, because the elements of rows are reused for other lines.
    const topOf = () =>
      page.evaluate(`[...document.querySelectorAll('.log .ln')]
        .find((one) => one.textContent.endsWith('row 410')).getBoundingClientRect().top`) as Promise<number>;
    const top = await topOf();
    // A scroll position is a whole number of pixels, but heights are not.
    const isInPlace = () => expect.poll(async () => Math.abs((await topOf()) - top)).toBeLessThan(1);
    const height = await heightOf();

    const other = await startRunning(here, 'sleep 3111', '3111');
    await expect.poll(heightOf).toBeLessThan(height);
    await isInPlace();

    const between = await heightOf();
    cut.cut();
    await page.getByText('Connection lost').waitFor();
    await expect.poll(heightOf).toBeLessThan(between);
    await isInPlace();
    cut.join();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await expect.poll(heightOf).toBe(between);
    await isInPlace();

    await other.stop();
    await stop();
    expect(watched.problems.filter((problem) => !/WebSocket|Failed to load/.test(problem))).toEqual([]);
    await page.close();
  });
});
