import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createPlace, survivors } from '../support/nacre.ts';
import { openTerminal } from '../support/terminal.ts';

const marks: string[] = [];
afterAll(async () => {
  for (const mark of marks) expect(await survivors(mark)).toEqual([]);
});

/** A home directory in which `nacre init` runs at a terminal. */
function createHome() {
  const place = createPlace();
  marks.push(place.mark);
  const file = join(place.cwd, '.claude.json');
  return {
    at: (path: string) => join(place.cwd, path),
    open: (...argv: string[]) => openTerminal(['init', ...argv], place),
    file,
    settings: () => readFileSync(join(place.cwd, '.config', 'nacre', 'config.yaml'), 'utf8'),
    entry: () => JSON.parse(readFileSync(file, 'utf8')).mcpServers.nacre,
  };
}

describe.concurrent('nacre init at a terminal', () => {
  it('asks for folder, commands and sandbox, and asks again after an invalid answer', async () => {
    const { at, open, entry, settings } = createHome();
    mkdirSync(at('work'));
    writeFileSync(at('work/package.json'), '{}');
    const terminal = open('claude-code');
    await terminal.shows(/Folder that commands run in \[the working folder of Claude Code\]: /);
    terminal.type('~/nowhere\r');
    await terminal.shows(/nowhere is not a folder\./);
    terminal.type('work\r');
    await terminal.shows(
      /or one of none, read-only, git, dev-node, dev-python, dev-go, dev-rust, dev, full \[dev-node\]: /,
    );
    terminal.type('git, ls make\r');
    await terminal.shows(/Sandbox: off, workspace .* \[\w+\]: /);
    terminal.type('total\r');
    await terminal.shows(/total is not one of off, workspace, strict\./);
    terminal.type('strict\r');
    await terminal.shows(/Turn it off .* \[no\]: /);
    terminal.type('\r');
    await terminal.shows(/was updated\./);
    expect(await terminal.ended).toBe(0);
    const work = at('work');
    expect(entry()).toMatchObject({
      args: [expect.stringMatching(/cli\.js$/), 'mcp', '--cwd', work],
      env: { ALLOWED_CWD_ROOTS: work },
    });
    expect(settings()).toBe('allowed_commands: [git, ls, make]\nsandbox: strict\n');
    const again = open('claude-code');
    for (const proposed of [
      /\[[^\]]*work\]: /,
      /Programs.*\[from your/,
      /Sandbox.*\[from your/,
      /Turn it off/,
    ]) {
      await again.shows(proposed);
      again.type('\r');
    }
    await again.shows('already has this entry');
    expect(await again.ended).toBe(0);
  });

  it('writes a project-scoped file into the chosen folder', async () => {
    const { at, open } = createHome();
    mkdirSync(at('work'));
    const terminal = open('cursor', '--preset', 'git', '--sandbox', 'off');
    await terminal.shows(/Folder/);
    terminal.type('work\r');
    expect(await terminal.ended).toBe(0);
    expect(existsSync(at('work/.cursor/mcp.json'))).toBe(true);
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('writes nothing after %s', async (_, keys) => {
    const { open, file } = createHome();
    const terminal = open('claude-code');
    await terminal.shows(/Folder/);
    terminal.type(keys);
    expect(await terminal.ended).toBe(130);
    expect(terminal.text()).toContain('No answer was given; nothing was written.');
    expect(existsSync(file)).toBe(false);
  });

  it('asks no questions with --yes', async () => {
    const { open, settings } = createHome();
    const terminal = open('claude-code', '--yes');
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).not.toContain('Folder that');
    expect(settings()).toMatch(/^preset: dev\n/);
  });
});
