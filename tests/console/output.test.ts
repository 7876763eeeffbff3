import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentCard, CommandCard } from '../../src/contract/console.ts';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';

// Texts that try to run, move, hide or fetch something in the page of a reader.
const hostile = [
  '<script>globalThis.hacked = 1</script>',
  '<img src=x onerror="globalThis.hacked = 1">',
  '"><svg onload=globalThis.hacked=1>',
  '</pre></div><style>*{display:none}</style><iframe src=//evil.example></iframe>',
  '{{constructor.constructor("hacked=1")()}} $' + '{hacked=1} <%= hacked %>',
  'javascript:alert(1) data:text/html,<script>1</script> vbscript:x file:///etc/passwd',
  'https://example.net/"onmouseover="hacked=1 https://example.net/<script>',
  '\u001b]8;;javascript:hacked=1\u0007click\u001b]8;;\u0007',
  '\u001b]0;title of the reader\u0007\u001b]52;c;aGFja2Vk\u0007\u001b]1337;File=inline=1:aGk=\u0007',
  '\u001b[2J\u001b[3J\u001b[H\u001b[?1049h\u001b[8m hidden \u001b[28m\u001b[5m',
  '\u001b[999999999999C far \u001b[1000000A up \u001b[6n\u001b[c\u001bZ',
  `\u001bP+q544e\u001b\\\u001b_Gf=100;AAAA\u001b\\\u001b^pm\u001b\\`,
  'safe \u202eetisoppo\u202c \u2066iso\u2069 \u200b\u200d\ufeff zero',
  'NUL \u0000 BEL \u0007 DEL \u007f C1 \u0085\u009b31m',
  'old line that is gone\rnew line',
  '\u{e0041}\u{e0042} tags, \u00ad soft, \u115f filler',
  'Z\u0351\u036b\u0343\u036a'.repeat(40),
  '\u001b[38;5;300m\u001b[38;2;999;999;999m\u001b[;;;;m odd colours',
  '\u001b[31',
  '__proto__ constructor [object Object] NaN undefined null',
];

let here: TestServer;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  here = await serve({
    env: { SHELL_ALLOWLIST: '*', EXEC_MAX_BUFFER_BYTES: '134217728', NACRE_SPOOL_BYTES: '134217728' },
  });
  browser = await openBrowser({ viewport: { width: 1280, height: 900 } });
}, 300_000);
afterAll(async () => {
  await browser.close();
  expect(await here.close()).toEqual([]);
});

async function run(name: string, bytes: Uint8Array | string): Promise<CommandCard> {
  writeFileSync(join(here.cwd, name), bytes);
  await here.shell('cat', [name]);
  const find = async () =>
    (
      (await here.send(`/api/commands?q=${name}`, { headers: here.bearer })).body as {
        commands: CommandCard[];
      }
    ).commands;
  await expect.poll(async () => (await find())[0]?.state, { timeout: 120_000 }).toBe('completed');
  const [card] = await find();
  if (!card) throw new Error('There is no such command.');
  return card;
}

describe('hostile output', { timeout: 300_000 }, () => {
  test('is shown as text: nothing runs, moves, hides or is fetched, and the policy is never violated', async () => {
    const { id } = await run('hostile.txt', `${hostile.join('\n')}\nthe last line\n`);
    const { page, problems } = await openConsolePage(browser, here);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.evaluate(
      "document.addEventListener('securitypolicyviolation', (event) => console.error('violation', event.violatedDirective))",
    );
    await page.goto(`${here.address}/commands/${id}`);
    await page.locator('.log .ln').filter({ hasText: 'the last line' }).waitFor();
    const rows = await page.locator('.log .ln:not(.none) .tx').allTextContents();
    expect(rows).toHaveLength(hostile.length + 1);
    expect(rows[0]).toBe(hostile[0]);
    expect(rows[14]).toBe('new line');
    expect(rows[12]).toContain('[U+202E]');
    expect(rows[13]).toContain('\u2400');
    const links = await page
      .locator('.log .tx a')
      .evaluateAll((all) =>
        all.map((one) => [
          (one as unknown as { href: string }).href,
          one.getAttribute('rel'),
          one.getAttribute('target'),
        ]),
      );
    expect(
      links.every(
        ([href, rel, target]) =>
          /^https:\/\/example\.net\//.test(String(href)) &&
          rel === 'noopener noreferrer' &&
          target === '_blank',
      ),
    ).toBe(true);
    expect(
      await page.evaluate(
        '[typeof hacked, document.title, document.querySelectorAll("iframe, .log img, .log script, .log style").length]',
      ),
    ).toEqual(['undefined', expect.stringContaining('nacre'), 0]);
    const outside = await page
      .locator('.log .ln')
      .evaluateAll(
        (all) => all.filter((one) => (one as unknown as { offsetHeight: number }).offsetHeight > 40).length,
      );
    expect(outside).toBe(0);
    expect(asked.filter((url) => !url.startsWith(here.address) && !url.startsWith('ws:'))).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a hostile command and name are shown as text too', async () => {
    await here.shell('printf', ['%s', '<img src=x onerror=alert(1)>\u202e']);
    const { page, problems } = await openConsolePage(browser, here, { path: '/commands' });
    await page.getByText('[U+202E]').first().waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });
});

// The controls that are out of sight beyond the right edge.
const outside = `[...document.querySelectorAll('main :is(a, button, input, .left)')]
  .filter((one) => one.checkVisibility() && one.closest('.log, .tl, .asked-all') === null)
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 200))`;

describe('a hostile agent', { timeout: 300_000 }, () => {
  test('whose name, shells, commands and files try to mislead is shown as text on every page', async () => {
    const evil = `<img src=x onerror=hacked=1>\u202egnp.exe${'W'.repeat(300)}`;
    const folder = join(here.cwd, 'ev\u202eil <b>');
    mkdirSync(folder, { recursive: true });
    const agent = await connect({ name: evil, env: { ALLOWED_COMMANDS: '*', HOME: here.cwd } });
    const use = (name: string, input: object) =>
      agent.client.callTool({ name, arguments: { cwd: folder, ...input } }).catch(() => {});
    await use('start_command', { command: `printf '${evil}'; read word # \u2066`, name: 'evil' });
    await use('execute_command', { command: `echo ${'\u200b'.repeat(200)}; exit 3 # \u202e` });
    await use('execute_command', { command: 'rm -rf / # \u202e safe' });
    const { page, problems } = await openConsolePage(browser, here);
    await page.locator('.ask.awaiting').waitFor();
    const { body } = await here.send('/api/agents', { headers: here.bearer });
    const { key } = (body.agents as AgentCard[])[0] ?? { key: '' };
    const [card] = (await here.send('/api/commands?q=exit+3', { headers: here.bearer })).body
      .commands as CommandCard[];
    const paths = [
      '/',
      '/commands',
      '/agents',
      `/agents/${encodeURIComponent(key)}`,
      `/commands/${card?.id}`,
    ];
    for (const path of [...paths, '/approvals', '/audit', '/server']) {
      await page.goto(`${here.address}${path}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.locator('main .loading').waitFor({ state: 'detached' });
      const found = await page.evaluate(
        `[typeof hacked, document.querySelectorAll('main img, main iframe').length,
          /[\\u202a-\\u202e\\u2066-\\u2069\\u200b]/.test(document.body.innerText + document.title + [...document.querySelectorAll('[title], [aria-label]')].map((one) => one.title + one.ariaLabel).join())]`,
      );
      expect(found, path).toEqual(['undefined', 0, false]);
      for (const width of [390, 1000]) {
        await page.setViewportSize({ width, height: 700 });
        await expect.poll(() => page.evaluate(outside), { message: `${path} at ${width}` }).toEqual([]);
      }
    }
    expect(problems).toEqual([]);
    await page.close();
    await agent.close();
  });
});

describe('the output of a command', { timeout: 300_000 }, () => {
  test('lines have addresses, a long one is cut, and invalid bytes are shown', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}`).join('\n');
    const { id } = await run('lines.txt', `${lines}\n${'x'.repeat(60_000)}\n`);
    const { page, problems } = await openConsolePage(browser, here, { path: `/commands/${id}` });
    await page.locator('.log .ln').filter({ hasText: 'line 1' }).first().waitFor();
    const at = `${Array.from({ length: 1_999 }, (_, index) => `line ${index + 1}\n`).join('')}`.length;
    await page.goto(`${here.address}/commands/${id}?at=${at}`);
    await page.locator('.log .ln.sel').filter({ hasText: 'line 2000' }).waitFor();
    await page.locator('.log').press('End');
    await page.getByText('56 KB more').waitFor();
    const { id: odd } = await run('odd.bin', new Uint8Array([0x61, 0xff, 0xfe, 0x80, 0x62, 10]));
    await page.goto(`${here.address}/commands/${odd}`);
    await page.locator('.log .ln').filter({ hasText: 'a\ufffd' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('the keyboard chooses lines, and reaches the links in them', async () => {
    const { id } = await run('links.txt', 'one\nsee https://example.net/docs\nthree\n');
    const { page, problems } = await openConsolePage(browser, here, { path: `/commands/${id}` });
    await page.locator('.log').getByText('three').waitFor();
    await page.locator('.log').focus();
    await page.keyboard.press('Shift+ArrowDown');
    await page.waitForURL(/\?at=0$/);
    const chosen = page.locator('.log .ln.sel');
    await expect.poll(() => chosen.count()).toBe(1);
    await page.keyboard.press('Shift+ArrowDown');
    await page.waitForURL(/\?at=0&to=4$/);
    await expect.poll(() => chosen.count()).toBe(2);
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.href')).toBe('https://example.net/docs');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+ArrowUp');
    await page.waitForURL(/\?at=0$/);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a link keeps the focus when the rows arrive again', async () => {
    const { id } = await run('focus.txt', 'one\nsee https://example.net/docs\nthree\n');
    const { page, problems } = await openConsolePage(browser, here, { path: `/commands/${id}?at=4` });
    await page.locator('.log .ln.sel').waitFor();
    // Choosing lines requests the rows; the link gets the focus before they arrive.
    await page.evaluate(`(async () => {
      const nextFrame = () => new Promise(requestAnimationFrame);
      const chosen = () => document.querySelectorAll('.log .ln.sel').length;
      const key = new KeyboardEvent('keydown', { key: 'ArrowDown', shiftKey: true, bubbles: true });
      document.querySelector('.log').dispatchEvent(key);
      while (chosen() < 2) await nextFrame();
      document.querySelector('.log .ln.sel .tx a').focus();
    })()`);
    await page.waitForTimeout(1_000);
    expect(await page.evaluate('document.activeElement.href')).toBe('https://example.net/docs');
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a range of lines has an address, which chooses them again', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index + 1}`);
    const { id } = await run('range.txt', `${lines.join('\n')}\n`);
    const { page, problems } = await openConsolePage(browser, here, { path: `/commands/${id}` });
    const number = (line: number) => page.locator(`.log a.no[data-line="${line - 1}"]`);
    await number(3).click();
    await number(5).click({ modifiers: ['Shift'] });
    const cursorOf = (line: number) => `${lines.slice(0, line - 1).join('\n')}\n`.length;
    await page.waitForURL(`${here.address}/commands/${id}?at=${cursorOf(3)}&to=${cursorOf(5)}`);
    await page.goto(`${here.address}/commands/${id}?at=${cursorOf(200)}&to=${cursorOf(202)}`);
    await expect
      .poll(() => page.locator('.log .ln.sel .tx').allTextContents())
      .toEqual(lines.slice(199, 202));
    expect(problems).toEqual([]);
    await page.close();
  });

  test('an output of more than 64 MB is kept in part, and scrolling fetches the rest', async () => {
    writeFileSync(join(here.cwd, 'piece'), 'a line of an output that is far too long\n'.repeat(25_000));
    const file = join(here.cwd, 'go-on');
    const script = `echo the first line; while [ ! -e ${file} ]; do sleep 0.1; done; for i in $(seq 70); do echo part $i; cat piece; done; echo the last line; sleep 3030`;
    const call = here.shell('bash', ['-c', script]).catch(() => {});
    const find = async () =>
      (
        (await here.send('/api/commands?q=3030', { headers: here.bearer })).body as {
          commands: CommandCard[];
        }
      ).commands[0];
    await expect.poll(find, { timeout: 120_000 }).toBeDefined();
    const path = `/commands/${(await find())?.id}`;
    const { page, problems } = await openConsolePage(browser, here, { path });
    const shows = (text: string) =>
      page.locator('.log .ln').filter({ hasText: text }).first().waitFor({ timeout: 120_000 });
    const scroll = (to: string) => page.evaluate(`document.querySelector('.log').scrollTop = ${to}`);
    const firstShown = () =>
      page.evaluate(`(() => {
        const log = document.querySelector('.log').getBoundingClientRect();
        const row = [...document.querySelectorAll('.log .ln')].find((one) => one.getBoundingClientRect().top >= log.top && one.querySelector('.tx')?.textContent);
        return Number(row?.querySelector('.no')?.textContent || NaN);
      })()`) as Promise<number>;
    await shows('the first line');
    writeFileSync(file, '');
    await shows('the last line');
    await page.getByText('the rest is fetched as you scroll').waitFor();
    await page.locator('.live').getByText('1,750,072').waitFor();
    // The first line that is kept: above it, more is fetched, and what the reader sees stays where it is.
    await scroll('0');
    await expect.poll(firstShown, { timeout: 120_000 }).toBeLessThan(1_500_000);
    const before = await firstShown();
    await expect
      .poll(() => page.evaluate("document.querySelector('.log').scrollTop"), { timeout: 120_000 })
      .toBeGreaterThan(1_000);
    await expect.poll(async () => Math.abs((await firstShown()) - before)).toBeLessThan(3);
    await scroll('0');
    await expect.poll(firstShown, { timeout: 120_000 }).toBeLessThan(before);
    await page.getByRole('button', { name: 'Show the beginning' }).click();
    await shows('the first line');
    // Below the first part there is the next one.
    for (const part of [2, 3]) {
      await expect
        .poll(
          async () => {
            await scroll("document.querySelector('.log').scrollHeight");
            return firstShown();
          },
          { timeout: 120_000 },
        )
        .toBeGreaterThan(part * 25_000);
    }
    await page.getByRole('button', { name: 'Show the end' }).click();
    await shows('the last line');
    const cursor = 25_000 * 41 * 30;
    await page.goto(`${here.address}${path}?at=${cursor}`);
    await page.locator('.log .ln.sel').waitFor({ timeout: 120_000 });
    await page.keyboard.press('f');
    await shows('the last line');
    await here.post(`/api/commands/${(await find())?.id}/stop`, {});
    await call;
    expect(problems).toEqual([]);
    await page.close();
  });

  test('Enter before the search has found anything goes to the first match', async () => {
    const { id } = await run('needle.txt', `${'hay\n'.repeat(200)}the needle\n`);
    const { page, problems } = await openConsolePage(browser, here, { path: `/commands/${id}` });
    await page.locator('.log .ln').filter({ hasText: 'hay' }).first().waitFor();
    // The worker reports what it has found after 16 ms at the earliest; Enter is in the next task.
    await page.evaluate(`{
      const field = document.getElementById('find');
      field.value = 'needle';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      setTimeout(() => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })));
    }`);
    await page.locator('mark.on').waitFor();
    await page.getByText('1 of 1').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a pattern that backtracks forever in other engines does not block the page', async () => {
    const { id } = await run('long.txt', `${`${'a'.repeat(3_000)}!\n`.repeat(200)}`);
    const { page, problems } = await openConsolePage(browser, here, { path: `/commands/${id}` });
    await page.locator('.log .ln').first().waitFor();
    await page.locator('#find').fill('/(a+)+$/');
    await page.getByText('none', { exact: true }).waitFor({ timeout: 120_000 });
    await page.locator('#find').fill('/a!$/');
    await page.locator('.hits').filter({ hasText: '200' }).waitFor({ timeout: 120_000 });
    expect(problems).toEqual([]);
    await page.close();
  });
});
