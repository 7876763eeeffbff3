import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandLine, processesWith } from '../support/processes.ts';
import { type Stage, setStage, until } from './run-loop.ts';
import { openClient, type TerminalClient } from './terminal-client.ts';

const escKey = '\u001b';
const calls = [
  { tool: 'execute_command', args: { command: 'touch made' } },
  { tool: 'execute_command', args: { command: 'touch unwanted' } },
  { tool: 'execute_command', args: { command: 'echo > running; sleep 4322', timeout_ms: 600_000 } },
];

/** Declares that a client at a terminal asks its user, and that Esc ends what runs. */
export function testTerminal(name: string): void {
  it('asks at its terminal; Enter runs the command, Esc does not, and Esc ends a command that runs', async () => {
    const stage = await setStage(name, calls);
    const { driver, place, script } = stage;
    const client = openClient(name, place, driver.interactive?.(place) ?? driver.headless(place));
    const has = (file: string) => existsSync(join(place.project, file));
    try {
      await giveTask(client, stage);
      await client.shows(/touch made\s[\s\S]*New files need approval/);
      await answer(client, '\r', () => script.results.length > 0);
      await client.shows(/touch unwanted\s[\s\S]*New files need approval/);
      expect(has('made')).toBe(true);
      expect(script.results[0]?.text).toMatch(/exit_code"?: ?0/);
      await answer(client, escKey, () => script.results.length > 1);
      await until(
        () => has('running'),
        () => `the next call did not run:\n${client.screen()}`,
      );
      expect(has('unwanted')).toBe(false);
      expect(script.results[1]?.text).toMatch(/declined|cancelled/);
      // Copilot CLI says `esc esc interrupt`.
      if (/esc esc/.test(client.screen())) client.type(escKey);
      await client.shows(/(?<!esc )esc (?:to )?(?:interrupt|again)/i);
      client.type(escKey);
      await until(
        () => sleeping(place.home) === 0,
        () => `Esc did not end the command:\n${client.screen()}`,
      );
    } finally {
      await client.close();
      await stage.model.close();
    }
    await until(
      () => sleeping(place.home) === 0,
      () => 'the command outlived the client',
    );
  });
}

// Codex ignores keys for a moment after a question has appeared, so that no key meant for the prompt answers it.
async function answer(client: TerminalClient, key: string, isAnswered: () => boolean): Promise<void> {
  const pressed = setInterval(() => isAnswered() || client.type(key), 2_000);
  client.type(key);
  try {
    await until(isAnswered, client.screen);
  } finally {
    clearInterval(pressed);
  }
}

// A client sends the first task without nacre's tools if nacre has not started yet, so the task is given again.
async function giveTask(client: TerminalClient, { script, model }: Stage): Promise<void> {
  await client.shows(/[❯›]/);
  while (script.tools.length === 0) {
    const before = model.paths.length;
    client.type('Do the work.');
    await client.shows(/Do the work\./);
    client.type('\r');
    await until(() => model.paths.length > before || script.tools.length > 0, client.screen);
  }
}

function sleeping(home: string): number {
  return processesWith(home).filter((pid) => commandLine(pid).includes('sleep\x004322')).length;
}
