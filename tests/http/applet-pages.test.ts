// The applets as people use them: by mouse or touch, in light and dark, and back to the console.
import { cpSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, phone } from '../support/browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { startInProcess } from '../support/nacre.ts';

let here: TestServer;
let desktop: Awaited<ReturnType<typeof openBrowser>>;
let mobile: Awaited<ReturnType<typeof openBrowser>>;
const screenshotFolder = process.env.NACRE_SCREENSHOTS;

beforeAll(async () => {
  here = await serve({
    args: ['--applets-dir', 'applets'],
    env: { NACRE_TERMINAL_SHELLS: 'bash', PS1: 'nacre $ ' },
  });
  cpSync(resolve('dist/applets'), join(here.cwd, 'applets'), { recursive: true });
  writeFileSync(join(here.cwd, 'a file of the server.txt'), '');
  const made = await startInProcess(['applet', 'new', 'first-try'], here).ended;
  expect(made).toMatchObject({ code: 0, stderr: '' });
  [desktop, mobile] = await Promise.all([openBrowser(), openBrowser(phone)]);
}, 60_000);
afterAll(async () => {
  await desktop.close();
  await mobile.close();
  expect(await here.close()).toEqual([]);
});

// Opens the console and follows the link to an applet; `problems` collects what the browser reports.
async function openApplet(context: BrowserContext, title: string) {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', ({ message }) => problems.push(message));
  const { body } = await here.post('/api/link', {});
  await page.goto(String(body.link));
  await page.getByRole('button', { name: 'Open nacre' }).click();
  await page.getByRole('link', { name: title, exact: true }).click();
  return { page, problems };
}

async function show(page: Page, name: string): Promise<void> {
  if (screenshotFolder) await page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
}

const styleOf = (page: Page, selector: string, property: string) =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
const backgroundOf = (page: Page, selector: string) => styleOf(page, selector, 'backgroundColor');

describe('the applet that nacre applet new creates', { timeout: 60_000 }, () => {
  test('runs its example command under the CSP, without a violation', async () => {
    const { page, problems } = await openApplet(desktop.context, 'First try');
    await page.waitForURL(`http://first-try.localhost:${here.port}/`);
    await page.getByText(/^exit 0, \d+ ms$/).waitFor();
    await page.getByText('a file of the server.txt').waitFor();
    await page.getByLabel('Folder').fill('/nowhere');
    await page.getByRole('button', { name: 'List files' }).click();
    await page.getByText(/\/nowhere/).waitFor();
    // The refused directory is a reply with status 400, which Chromium reports; nothing else may be.
    expect(problems).toEqual([expect.stringMatching(/status of 400/)]);
    await page.close();
  });

  test('leads back to the console, which is still signed in', async () => {
    const { page, problems } = await openApplet(desktop.context, 'First try');
    await page.getByRole('link', { name: 'Console' }).click();
    await page.waitForURL(`${here.address}/`);
    await page
      .getByRole('heading', { name: /running/ })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('asks to be opened from the console if it is signed out', async () => {
    const page = await mobile.context.newPage();
    await page.goto(`http://first-try.localhost:${here.port}/`);
    await page.getByText('This page is signed out: open it again from the console.').waitFor();
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { name: 'Open this page with its link' }).waitFor();
    await page.close();
  });
});

describe('the terminal applet', { timeout: 60_000 }, () => {
  const openTerminal = async (context: BrowserContext) => {
    const opened = await openApplet(context, 'Terminal');
    await opened.page.getByText('bash', { exact: true }).waitFor();
    return opened;
  };

  test('follows the colour scheme of the system', async () => {
    const { page, problems } = await openTerminal(desktop.context);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => backgroundOf(page, 'body')).toBe('rgb(251, 252, 251)');
    await expect.poll(() => backgroundOf(page, '.xterm-scrollable-element')).toBe('rgb(251, 252, 251)');
    await page.keyboard.type('printf "\\e[93myellow\\e[0m"');
    await page.keyboard.press('Enter');
    const colored = '.xterm-rows > div:nth-child(2) span';
    await page.locator(colored).filter({ hasText: 'yellow' }).waitFor();
    const color = await styleOf(page, colored, 'color');
    expect(contrast(String(color), 'rgb(251, 252, 251)')).toBeGreaterThan(4.5);
    await show(page, 'terminal-light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => backgroundOf(page, '.xterm-scrollable-element')).toBe('rgb(16, 20, 19)');
    expect(problems).toEqual([]);
    await page.close();
  });

  test('has no extra keys for a mouse, and a link back', async () => {
    const { page } = await openTerminal(desktop.context);
    expect(await page.getByRole('toolbar').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Console' }).click();
    await page
      .getByRole('heading', { name: /running/ })
      .first()
      .waitFor();
    await page.close();
  });

  test('has keys for a touch screen: Ctrl applies to the next key, Tab completes, arrows recall', async () => {
    const { page, problems } = await openTerminal(mobile.context);
    const tap = (name: string) => page.getByRole('button', { name, exact: true }).tap();
    const type = (text: string) => page.keyboard.type(text);
    await page.getByRole('toolbar').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

    await type('cat');
    await page.keyboard.press('Enter');
    await tap('Ctrl');
    expect(await page.getByRole('button', { name: 'Ctrl' }).getAttribute('aria-pressed')).toBe('true');
    await show(page, 'terminal-phone');
    await type('c');
    await page.getByText('^C').waitFor();
    expect(await page.getByRole('button', { name: 'Ctrl' }).getAttribute('aria-pressed')).toBe('false');

    await type('echo code $((100 + $?)); ec');
    await tap('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('code 230').waitFor();

    await type('echo $((7 * 7))');
    await page.keyboard.press('Enter');
    await page.getByText('49', { exact: true }).waitFor();
    await tap('Up');
    await tap('Left');
    await type('+1');
    await page.keyboard.press('Enter');
    // The text was typed one character before the end: echo $((7 * 7)+1) has an arithmetic error.
    await page.getByText('echo $((7 * 7)+1)').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });
});

// The contrast ratio of WCAG 2.
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
