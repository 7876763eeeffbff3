import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { serve } from '../support/http.ts';

// Commands of a server that has ended: the first one failed.
function writeSession(folder: string, count: number): void {
  const begin = Date.now() - count * 1_000;
  const lines = Array.from({ length: count }, (_, index) => {
    const common = { id: `cmd_bars${String(index).padStart(8, '0')}`, door: 'mcp', client: 'busy', cwd: '/' };
    const time = new Date(begin + index * 1_000).toISOString();
    const end = index === 0 ? { status: 'failed', exit_code: 1 } : { status: 'completed', exit_code: 0 };
    return [
      { kind: 'asked', command: `echo ${index}` },
      { kind: 'started' },
      { kind: 'finished', ...end, duration_ms: 600 },
    ]
      .map((more, part) => `${JSON.stringify({ seq: index * 3 + part, time, ...common, ...more })}\n`)
      .join('');
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${new Date(begin).toISOString().slice(0, 10)}_999999_0123456789ab.jsonl`),
    lines.join(''),
  );
}

test('more than 300 bars have the colours of the theme, also after it has changed', {
  timeout: 120_000,
}, async () => {
  const here = await serve();
  writeSession(join(here.cwd, '.local/state/nacre/audit'), 320);
  const browser = await openBrowser({ viewport: { width: 1280, height: 800 } });
  const { page, problems } = await openConsolePage(browser, here, { path: '/commands/cmd_bars00000100' });
  await page.locator('canvas.many').waitFor();
  // The colour in the middle of the first bar and of one that ended well, and those that the theme has for them.
  const readColours = () =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('canvas.many');
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const scale = canvas.width / canvas.getBoundingClientRect().width;
      const at = (x) => 'rgb(' + [...copy.getImageData(x * scale, 13 * scale, 1, 1).data].slice(0, 3).join(', ') + ')';
      const toColour = (name) => {
        const probe = document.createElement('i');
        probe.style.color = 'var(' + name + ')';
        document.body.append(probe);
        const { color } = getComputedStyle(probe);
        probe.remove();
        return color;
      };
      const second = Math.floor((canvas.getBoundingClientRect().width / 320) * 7 / 3) * 3 + 1;
      return { isRight: at(1) === toColour('--bad') && at(second) === toColour('--bar'), found: [at(1), at(second)] };
    })()`) as Promise<{ isRight: boolean; found: readonly string[] }>;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expect.poll(readColours).toMatchObject({ isRight: true });
  }
  await page.getByRole('button', { name: 'Use the light theme' }).click();
  await expect.poll(readColours).toMatchObject({ isRight: true });
  await page.getByRole('button', { name: 'Use the dark theme' }).waitFor();
  expect(problems).toEqual([]);
  await browser.close();
  expect(await here.close()).toEqual([]);
});
