import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage, type WatchedPage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { startRunning } from '../support/running-command.ts';

let here: TestServer;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  here = await serve({ env: { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' } });
  browser = await openBrowser({ viewport: { width: 1280, height: 800 } });
  watched = await openConsolePage(browser, here);
  page = watched.page;
}, 120_000);
afterAll(async () => {
  expect(watched.problems).toEqual([]);
  await browser.close();
  expect(await here.close()).toEqual([]);
});

describe('while a command runs', { timeout: 300_000 }, () => {
  test('the head of its page has the same height however long it has run, and after its end', async () => {
    const steps = Array.from({ length: 12 }, (_, index) => `echo "step ${index}"`).join('; ');
    const { id, startedAt, stop } = await startRunning(here, `${steps}; sleep 3107`, '3107');
    await page.goto(`${here.address}/commands/${id}`);
    await page.locator('.log .ln').first().waitFor();
    const measure = async () => {
      const boxes: (readonly [head: number, log: number])[] = [];
      for (let width = 1_500; width > 900; width -= 10) {
        await page.setViewportSize({ width, height: 800 });
        const heights = page.evaluate(
          "['.cmd-head', '.log-wrap'].map((one) => document.querySelector(one).getBoundingClientRect().height)",
        );
        boxes.push((await heights) as [number, number]);
      }
      return boxes;
    };
    const measureAt = async (seconds: number, words: string) => {
      await page.clock.setFixedTime(startedAt + seconds * 1_000);
      await page.locator('.status time', { hasText: words }).waitFor();
      return measure();
    };
    const before = await measureAt(9.5, '9.5 s');
    expect(await measureAt(10.5, '10 s')).toEqual(before);
    expect(await measureAt(60.5, '1 m')).toEqual(before);
    expect(await measureAt(3_599, '59 m 59 s')).toEqual(before);
    await stop();
    await page.locator('.status.bad').waitFor();
    expect((await measure()).map(([head]) => head)).toEqual(before.map(([head]) => head));
  });

  test('its row goes on counting, and shows its date from the next day on', async () => {
    const { startedAt, stop } = await startRunning(here, 'sleep 3108', '3108');
    await page.clock.setFixedTime(startedAt + 61_000);
    await page.goto(`${here.address}/commands?q=3108`);
    const row = page.locator('.row', { hasText: 'sleep 3108' });
    await row.locator('.took', { hasText: '1 m 1 s' }).waitFor();
    expect(await row.locator('.when').textContent()).toMatch(/^\d\d:\d\d$/);
    await page.clock.setFixedTime(startedAt + 86_400_000);
    await row.locator('.took', { hasText: '24 h' }).waitFor();
    expect(await row.locator('.when').textContent()).toMatch(/^[A-Z][a-z]{2} \d+ \d\d:\d\d$/);
    await stop();
  });

  test('its row is as high with other figures of its CPU and memory', async () => {
    const { stop } = await startRunning(here, 'sleep 3112', '3112');
    await page.goto(here.address);
    const row = page.locator('.running-row', { hasText: 'sleep 3112' });
    await row.locator('.memory-now').waitFor();
    for (let width = 320; width < 420; width += 4) {
      await page.setViewportSize({ width, height: 800 });
      // In one step, because the page renders the figures again every second.
      const heights = await row.evaluate((element) => {
        const [cpu, memory] = ['.cpu-now', '.memory-now'].map((one) => element.querySelector(one)?.lastChild);
        return [
          ['0', '1 KB'],
          ['99', '999 MB'],
          ['1234', '48.1 MB'],
        ].map(([percent = '', size = '']) => {
          for (const text of cpu?.parentNode?.childNodes ?? [])
            if (text.nodeType === 3) text.textContent = '';
          if (cpu) cpu.textContent = `${percent} % CPU`;
          if (memory) memory.textContent = size;
          return element.getBoundingClientRect().height;
        });
      });
      expect(new Set(heights).size, `${width} pixels wide: ${heights}`).toBe(1);
    }
    await stop();
  });
});
