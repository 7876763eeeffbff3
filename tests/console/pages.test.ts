import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommandCard, NowReply } from '../../src/contract/console.ts';
import { findings, findingsInThemes } from '../support/axe.ts';
import { openBrowser, phone } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';
import { sleep } from '../support/nacre.ts';

const pictures = process.env.NACRE_SCREENSHOTS;
const userFile = `policy:
  - verdict: ask
    program: git
    args: ["push", "..."]
    reason: It leaves this machine.
    examples: { matches: ["git push origin main"], spares: ["git status"] }
`;
const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*', NACRE_SANDBOX: 'workspace' };
let here: TestServer;
let agent: Awaited<ReturnType<typeof connect>>;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let shop: string;
const running: Promise<unknown>[] = [];

// A test run that fails, as an agent would see it; it goes on until it is stopped.
const suite = `printf '\\n\\033[2m> web-shop@2.4.0 test\\033[0m\\n\\n'
for i in $(seq 1 60); do printf ' \\033[32m✓\\033[0m \\033[2msrc/\\033[0mcart/total-%s\\033[2m.test.ts (18 tests)\\033[0m \\033[32m41\\033[0mms\\n' $i; done
echo 'Warning: clock moved backwards by 3 ms' >&2
printf ' \\033[1;31m FAIL \\033[0m src/checkout/tax.test.ts > charges the VAT of the destination\\n'
printf '\\033[1;31mAssertionError\\033[0m\\033[31m: expected 23.8 to be 20\\033[0m\\n\\n\\033[32m- 20\\033[0m\\n\\033[31m+ 23.8\\033[0m\\n'
i=0; while true; do i=$((i + 1)); printf ' \\033[33m⠹\\033[0m \\033[2msrc/\\033[0mcheckout/payment\\033[2m.test.ts\\033[0m %s of 33\\n' $i; sleep 0.2; done
`;

// Without `timeout` the client cancels a call after 60 seconds, which ends its command.
const call = (tool: string, input: object) =>
  agent.client
    .callTool({ name: tool, arguments: { cwd: shop, ...input } }, { timeout: 3_600_000 })
    .catch(() => {});
const commandsOf = async (query: string) =>
  ((await here.send(`/api/commands?${query}`, { headers: here.bearer })).body as { commands: CommandCard[] })
    .commands;
async function first(query: string): Promise<CommandCard> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const [card] = await commandsOf(query);
    if (card) return card;
    await sleep(100);
  }
  throw new Error(`There is no command for ${query}.`);
}

beforeAll(async () => {
  here = await serve({ env: open, userFile });
  shop = join(here.cwd, 'web-shop');
  mkdirSync(shop);
  writeFileSync(join(shop, 'test.sh'), suite);
  const limits = { NACRE_TERMINAL_TIMEOUT_MAX_MS: '3600000' };
  agent = await connect({ name: 'claude-code', env: { ...open, ...limits, HOME: here.cwd } });
  browser = await openBrowser({ viewport: { width: 1440, height: 900 } });
  for (const command of ['git init -q .', 'ls -la', 'cat package.json', 'rm -rf /', 'sleep 0.4; echo built'])
    await call('execute_command', { command });
  await call('start_command', { command: 'sleep 3000', name: 'dev' });
  // It must run until the last test, because the output of such a call is removed with its reply.
  const whole = { command: 'bash test.sh 2>&1 | tee test.log', timeout_ms: 3_600_000 };
  running.push(call('execute_command', whole));
  await first('q=tee');
}, 300_000);
afterAll(async () => {
  await browser.close();
  await agent.close();
  expect(await here.close()).toEqual([]);
});

// Presses every button of the card in the task in which it appears, and for 300 ms after it.
const clickAtOnce = `globalThis.clicks = { count: 0, isDone: false };
  new MutationObserver((_, observer) => {
    const find = () => [...document.querySelectorAll('.ask:has(.answers)')].find((card) => card.textContent.includes('git push origin typed'));
    if (!find()) return;
    observer.disconnect();
    const appeared = performance.now();
    const press = () => {
      if (performance.now() - appeared > 300) return void (clicks.isDone = true);
      for (const button of find()?.querySelectorAll('.answers button:enabled') ?? []) { button.click(); clicks.count += 1; }
      setTimeout(press, 10);
    };
    press();
  }).observe(document.body, { childList: true, subtree: true });`;

// Lists the controls of the page; records and commands that arrive later are not among them.
const nameControls = `globalThis.unseen = new Set();
  globalThis.controls = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
    .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility() && !one.matches('.skip'));
  globalThis.nameOf = (one) => one.outerHTML.slice(0, 160);
  globalThis.unreached = new Set(controls);
  document.activeElement?.blur();
  controls.length`;
// A focused control has an outline, or the border of its field is stronger.
const noteFocus = `{
  const one = document.activeElement;
  unreached.delete(one);
  const style = getComputedStyle(one);
  const field = one.closest('.anything, .field, .find');
  const isSeen = field ? getComputedStyle(field).boxShadow !== 'none' : style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
  if (one !== document.body && !isSeen) unseen.add(nameOf(one));
}`;

// A button ignores presses until it has been in its place for 600 ms, so one press may not be enough.
const untilGone = (element: Locator, press: () => Promise<void>) =>
  expect
    .poll(
      () =>
        press().then(
          () => element.count(),
          () => element.count(),
        ),
      { timeout: 120_000, interval: 700 },
    )
    .toBe(0);

const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

describe('the console in a browser', { timeout: 600_000 }, () => {
  test('every page, in light and dark, has no accessibility problem and no violation of its policy', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    running.push(call('execute_command', { command: 'git push origin main' }));
    await page.getByRole('button', { name: 'Approve once' }).waitFor();
    const { id, agent: key } = await first('q=tee');
    if (pictures) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${here.address}/commands/${id}`);
      await page.getByLabel('Find in the output').fill('vat');
      await page.getByText('1', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'Next match' }).click();
      await page.locator('mark').first().waitFor();
      await page.screenshot({ path: join(pictures, 'console.png') });
    }
    const [refused] = await commandsOf('outcome=refused');
    const pages = [
      ['/', 'Running'],
      ['/commands', 'rm -rf /'],
      ['/commands?q=nothing-like-this', 'No command matches'],
      [`/commands/${id}`, 'payment'],
      [`/commands/${refused?.id}`, 'nothing ran'],
      ['/commands/cmd_000000000000', 'The page Commands lists them.'],
      ['/agents', 'claude-code'],
      [`/agents/${encodeURIComponent(key)}`, 'Session of'],
      ['/approvals', 'Approve once'],
      ['/audit', 'allow: '],
      ['/server', 'Settings in force'],
    ] as const;
    for (const [path, text] of pages) {
      await page.goto(`${here.address}${path}`);
      await page.locator('main').getByText(text).first().waitFor();
      expect(await findingsInThemes(page), path).toEqual([]);
      const name = path.split('/')[1]?.split('?')[0] || 'now';
      if (pictures && path.split('/').length === 2)
        await page.screenshot({ path: join(pictures, `console-${name}.png`) });
    }
    expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([]);
    await page.close();
  });

  test('narrow, zoomed, without motion and with forced colours everything fits and can be read', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    const { id, agent: key } = await first('q=tee');
    // 1280 pixels at 400 % are 320.
    for (const width of [320, 390, 800])
      for (const path of [
        '/',
        '/commands',
        `/commands/${id}`,
        '/agents',
        '/approvals',
        '/audit',
        '/server',
      ]) {
        await page.setViewportSize({ width, height: 700 });
        await page.goto(`${here.address}${path}`);
        await page.locator('main > *').first().waitFor();
        await page.locator('main .loading').waitFor({ state: 'detached' });
        expect(await fits(page), `${path} at ${width}`).toBe(true);
        const cut = await page.evaluate(
          "[...document.querySelectorAll('.tabs-bottom a')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)",
        );
        expect(cut, `${path} at ${width}`).toEqual([]);
      }
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`${here.address}/`);
    running.push(call('execute_command', { command: 'git push origin narrow' }));
    const question = page.locator('.ask:has(.answers)').filter({ hasText: 'git push origin narrow' });
    await question.waitFor();
    const [asked, summary] = [await question.boundingBox(), await page.locator('#sum-title').boundingBox()];
    expect(asked?.y).toBeLessThan(summary?.y ?? 0);
    await page.goto(`${here.address}/agents/${encodeURIComponent(key)}`);
    const row = await page.locator('.row.own .what').first().boundingBox();
    expect(row?.width).toBeGreaterThan(200);
    await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' });
    await page.goto(`${here.address}/commands/${id}`);
    await page.locator('.log .ln').filter({ hasText: 'payment' }).first().waitFor();
    const moving = await page.evaluate(
      "document.getAnimations().filter((one) => one.playState === 'running').length",
    );
    expect(moving).toBe(0);
    expect(await findings(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('on a phone every control is at least 44 pixels high, and a question can be answered by touch', async () => {
    const mobile = await openBrowser(phone);
    const { page, problems } = await openConsolePage(mobile, here, { name: 'phone' });
    running.push(call('execute_command', { command: 'git push origin phone' }));
    const { id } = await first('q=tee');
    for (const path of ['/', '/commands', `/commands/${id}`, '/approvals', '/audit', '/server']) {
      await page.goto(`${here.address}${path}`);
      await page.locator('main > *').first().waitFor();
      await page.locator('main .loading').waitFor({ state: 'detached' });
      const small =
        await page.evaluate(`[...document.querySelectorAll('button, select, input:not([type=checkbox]), nav.tabs-bottom a, a.row, a.running-row, a.agent-row')]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height > 0 && one.getBoundingClientRect().height < 43.5)
        .filter((one) => !one.closest('.find, .field, .anything'))
        .map((one) => one.outerHTML.slice(0, 120) + one.getBoundingClientRect().height)`);
      expect(small, path).toEqual([]);
    }
    await page.goto(`${here.address}/approvals`);
    const question = page.locator('.ask').filter({ hasText: 'git push origin phone' });
    await question.getByPlaceholder(/Tell the agent/).fill('Not from here.');
    await untilGone(question, () => question.getByRole('button', { name: 'Deny' }).tap({ timeout: 5_000 }));
    await page.getByText('Not from here.').waitFor();
    expect(problems).toEqual([]);
    await mobile.close();
  });

  test('on a phone, questions open in a sheet on every page but Now and Approvals, and Pause is in the sheet More', async () => {
    const mobile = await openBrowser(phone);
    const { page, problems } = await openConsolePage(mobile, here, { name: 'phone' });
    const { id } = await first('q=tee');
    await page.goto(`${here.address}/commands/${id}`);
    running.push(call('execute_command', { command: 'git push origin sheet' }));
    const peek = page.getByRole('button', { name: /Review/ });
    await peek.waitFor();
    expect(await page.locator('.ask').count()).toBe(0);
    expect((await peek.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await peek.tap();
    const sheet = page.getByRole('dialog');
    const question = sheet.locator('.ask').filter({ hasText: 'git push origin sheet' });
    await question.waitFor();
    expect(await findingsInThemes(page)).toEqual([]);
    expect(await fits(page)).toBe(true);
    if (pictures) await page.screenshot({ path: join(pictures, 'console-phone.png') });
    await untilGone(question, () => question.getByRole('button', { name: 'Deny' }).tap({ timeout: 5_000 }));
    await page.goto(`${here.address}/agents`);
    await page.getByRole('button', { name: 'More' }).tap();
    await sheet.getByRole('link', { name: 'Audit' }).waitFor();
    await sheet.getByRole('button', { name: 'Pause everything' }).tap();
    await sheet.getByText(/This ends \d+ commands/).waitFor();
    expect(await findingsInThemes(page)).toEqual([]);
    await sheet.getByRole('link', { name: 'Server' }).tap();
    await page.waitForURL(`${here.address}/server`);
    await sheet.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await mobile.close();
  });

  test('a repeated call is one question, and its answer is shown with the call that waits', async () => {
    const command = 'git push origin again';
    const { page, problems } = await openConsolePage(browser, here);
    running.push(call('execute_command', { command }), call('execute_command', { command }));
    const question = page.locator('.ask:has(.answers)').filter({ hasText: command });
    await question.waitFor();
    const calls = async () => {
      const { questions } = (await here.send('/api/now', { headers: here.bearer }))
        .body as unknown as NowReply;
      return questions.find(({ asked }) => asked.command === command)?.calls ?? [];
    };
    await expect.poll(calls, { timeout: 60_000 }).toHaveLength(2);
    await page.clock.install();
    await page.reload();
    await question.waitFor();
    await page.clock.fastForward(120_000);
    await question.getByText(/[0-8] m \d+ s left/).waitFor();
    expect(await page.getByText('Asked in claude-code').count()).toBe(0);
    expect(await page.locator('#sum-title b').first().textContent()).toBe(
      await page.locator('.rail .count.needs').textContent(),
    );
    const [waited] = await calls();
    await page.close();
    const { questions } = (await here.send('/api/now', { headers: here.bearer })).body as unknown as NowReply;
    const asked = questions.find((one) => one.asked.command === command);
    const body = { answer: 'declined', digest: asked?.digest, note: 'Once is enough.' };
    expect(await here.post(`/api/approvals/${asked?.id}`, body)).toMatchObject({ status: 200 });
    await expect
      .poll(async () => (await commandsOf('q=push+origin+again')).find(({ id }) => id === waited)?.acts, {
        timeout: 60_000,
      })
      .toMatchObject([{ kind: 'declined', note: 'Once is enough.' }]);
    expect(problems).toEqual([]);
  });

  test('the keyboard alone reaches pages, rows and the output', async () => {
    const { page } = await openConsolePage(browser, here);
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('c')]);
    await page.waitForURL(`${here.address}/commands`);
    await page
      .getByRole('link', { name: /tee test.log/ })
      .first()
      .waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/commands\/cmd_/);
    await page.getByRole('tab', { name: 'Output', selected: true }).waitFor();
    await page.keyboard.press('2');
    await page.getByRole('tab', { name: 'Records', selected: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Keys' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('tee');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${here.address}/commands?q=tee`);
    const { id } = await first('q=tee');
    await page.goto(`${here.address}/commands/${id}`);
    await page.locator('.log .ln').filter({ hasText: 'payment' }).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('charges the');
    await page.keyboard.press('Enter');
    await page.locator('mark.on').first().waitFor();
    await page.getByText('1 of 1').waitFor();
    await page.close();
  });

  test('Tab reaches every control of every page, and shows where it is', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    const { id, agent: key } = await first('q=tee');
    const paths = ['/', '/commands', `/commands/${id}`, `/agents/${encodeURIComponent(key)}`];
    for (const path of [...paths, '/agents', '/approvals', '/audit', '/server']) {
      await page.goto(`${here.address}${path}`);
      await page.locator('main > *').first().waitFor();
      await page.locator('main .loading').waitFor({ state: 'detached' });
      const count = Number(await page.evaluate(nameControls));
      // The rail and the header alone have ten.
      expect(count, path).toBeGreaterThanOrEqual(10);
      for (let step = 0; step < count + 10; step += 1) {
        await page.keyboard.press('Tab');
        await page.evaluate(noteFocus);
      }
      // Rows of commands that run meanwhile may go.
      const missed = '[...unreached].filter((one) => one.isConnected).map(nameOf)';
      expect(await page.evaluate(missed), path).toEqual([]);
      expect(await page.evaluate('[...unseen]'), path).toEqual([]);
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  test('typing or clicking while a question appears approves nothing', async () => {
    const { page } = await openConsolePage(browser, here);
    const question = page.locator('.ask').filter({ hasText: 'git push origin typed' });
    const waiting = async () => {
      const { questions } = (await here.send('/api/now', { headers: here.bearer }))
        .body as unknown as NowReply;
      return questions.filter(({ asked }) => asked.command === 'git push origin typed').length;
    };
    await page.evaluate(clickAtOnce);
    await page.locator('#anything').focus();
    running.push(call('execute_command', { command: 'git push origin typed' }));
    const until = Date.now() + 300_000;
    while ((await question.count()) === 0 && Date.now() < until) await page.keyboard.type('y n ');
    await page.evaluate('document.activeElement.blur()');
    for (const key of ['y', 'Enter', 'Space', 'Enter']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.closest(".ask") === null')).toBe(true);
    await expect.poll(() => page.evaluate('clicks.isDone'), { timeout: 120_000 }).toBe(true);
    expect(await page.evaluate('clicks.count')).toBeGreaterThan(0);
    expect(await waiting()).toBe(1);
    await untilGone(question, () => question.getByRole('button', { name: 'Deny' }).click({ timeout: 5_000 }));
    expect(await waiting()).toBe(0);
    expect(await first('q=push+origin+typed')).toMatchObject({ started_at: null });
    await page.close();
  });

  test('if the user turns it on, new lines are read aloud: their number and the last one', async () => {
    const { page } = await openConsolePage(browser, here, { path: '/server' });
    const { id } = await first('q=tee');
    await page.getByRole('checkbox', { name: 'Announce new lines' }).check();
    await page.goto(`${here.address}/commands/${id}`);
    await page
      .getByRole('log')
      .filter({ hasText: /^\d+ lines, last: .*payment\.test\.ts \d+ of 33$/ })
      .waitFor();
    await page.goto(`${here.address}/server`);
    await page.getByRole('checkbox', { name: 'Announce new lines' }).uncheck();
    await page.close();
  });

  test('a refusal shows its reason and the next step, and marks the refused part of the command', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    const [refused] = await commandsOf('outcome=refused&q=rm');
    await page.goto(`${here.address}/commands/${refused?.id}`);
    await page.getByText('The command was refused, so nothing ran.').waitFor();
    expect(refused?.hint).toMatch(/\.$/);
    await page
      .locator('.tab-body')
      .getByText(refused?.hint ?? 'missing')
      .waitFor();
    expect(await page.locator('#cmd-title mark').allTextContents()).toEqual(['/']);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('typed filters become the address, and a program can be chosen', async () => {
    const { page, problems } = await openConsolePage(browser, here, { path: '/commands' });
    const field = page.getByRole('searchbox', { name: 'Words in the command' });
    await field.fill('program:rm outcome:refused /');
    await field.press('Enter');
    await page.waitForURL(/\/commands\?program=rm&outcome=refused&q=%2F$/);
    await expect
      .poll(() => page.locator('.rows-list .what').allTextContents(), { timeout: 60_000 })
      .toEqual(['rm -rf /']);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('combobox', { name: 'Program' }).selectOption('ls');
    await page.waitForURL(/\/commands\?program=ls$/);
    await expect
      .poll(() => page.locator('.rows-list .what').allTextContents(), { timeout: 60_000 })
      .toEqual(['ls -la']);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a viewer sees the same pages without actions', async () => {
    const { page, problems } = await openConsolePage(browser, here, { role: 'viewer', name: 'wall' });
    await page.getByText('This page may only look.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Pause everything' }).isDisabled()).toBe(true);
    const { id } = await first('q=tee');
    await page.goto(`${here.address}/commands/${id}`);
    await page.locator('.log .ln').filter({ hasText: 'payment' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).isDisabled()).toBe(true);
    expect(await findings(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('an operator stops a command, and the page shows its end', async () => {
    const { page, problems } = await openConsolePage(browser, here);
    const { id } = await first('q=3000');
    await page.goto(`${here.address}/commands/${id}`);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('button', { name: 'Stop it now' }).click();
    await page.locator('.status').filter({ hasText: 'Stopped' }).waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /sleep 3000: stopped after/ })
      .waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });
});
