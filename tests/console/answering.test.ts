import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findingsInThemes } from '../support/axe.ts';
import { openBrowser } from '../support/browser.ts';
import { openConsolePage } from '../support/console-browser.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';

const userFile = `policy:
  - verdict: ask
    program: printf
    reason: It prints.
    examples: { matches: ["printf x"], spares: ["echo x"] }
`;
const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*', NACRE_SANDBOX: 'workspace' };
let here: TestServer;
let agent: Awaited<ReturnType<typeof connect>>;
let browser: Awaited<ReturnType<typeof openBrowser>>;

const project = () => join(here.cwd, 'project');

beforeAll(async () => {
  here = await serve({ env: open, userFile });
  mkdirSync(project());
  agent = await connect({ name: 'codex', env: { ...open, HOME: here.cwd } });
  browser = await openBrowser({ viewport: { width: 1280, height: 900 } });
}, 300_000);
afterAll(async () => {
  await browser.close();
  await agent.close();
  expect(await here.close()).toEqual([]);
});

describe('a request in the page', { timeout: 300_000 }, () => {
  test('that is longer than its card has to be scrolled to its end; then the call gets the approval and the note', async () => {
    const { page, problems } = await openConsolePage(browser, here, { path: '/approvals' });
    // The page learns of the agent's first command over its socket; the next poll tells the agent's server that a person looks.
    await agent.call({ command: 'true', cwd: project() });
    await page.locator('.rail a[href="/agents"] .count').waitFor();
    await here.send('/api/now', { headers: here.bearer });
    const lines = Array.from({ length: 60 }, (_, index) => `# line ${index + 1}`).join('\n');
    const reply = agent.call({
      command: `${lines}\nprintf 'ran %s' "$COLOR"`,
      env: { COLOR: 'pearl' },
      cwd: project(),
    });
    const card = page.locator('.ask:has(.answers)');
    const approve = card.getByRole('button', { name: 'Approve once' });
    await card.getByText('Scroll to the end of the request to approve it.').waitFor();
    expect(await approve.isDisabled()).toBe(true);
    expect(await card.getByRole('button', { name: 'Deny' }).isEnabled()).toBe(true);
    expect(await findingsInThemes(page)).toEqual([]);
    for (const shown of ['COLOR', 'pearl', '# line 60', 'It prints.'])
      expect(await card.innerText(), shown).toContain(shown);
    await card.getByRole('group', { name: 'What is asked' }).press('End');
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await card.getByPlaceholder(/Tell the agent/).fill('Only today.');
    // The button ignores presses for 600 ms after it has moved.
    await expect
      .poll(
        async () => {
          await approve.click({ timeout: 5_000 }).catch(() => {});
          return card.count();
        },
        { timeout: 60_000, interval: 700 },
      )
      .toBe(0);
    const { structured, text } = await reply;
    expect(structured, text).toMatchObject({ exit_code: 0, stdout: 'ran pearl' });
    expect(text).toContain('Only today.');
    await page.getByText('Only today.').first().waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });
});
