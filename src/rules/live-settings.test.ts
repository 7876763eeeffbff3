import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { parseFlags } from '../settings/parse-flags.ts';
import { allSettings } from './all-settings.ts';
import { createLiveSettings, fixedSettings } from './live-settings.ts';
import { createSettingsSource } from './settings-source.ts';

async function open(text: string, { hidden = true, flags = [] as string[] } = {}) {
  const home = temporaryFolder();
  const file = join(home, '.config/nacre/config.yaml');
  const write = (more: string) => writeFileSync(file, more);
  mkdirSync(join(home, '.config/nacre'), { recursive: true });
  write(text);
  const source = createSettingsSource(parseFlags(flags, allSettings), { env: { HOME: home }, cwd: home });
  const lines: string[] = [];
  const started = await source.read();
  const live = createLiveSettings(started, {
    ...source,
    isOutOfReach: async () => hidden,
    log: (line) => lines.push(line),
  });
  const list = async () => {
    await live.refresh();
    return live.now().values.allowedCommands;
  };
  return { home, file, write, live, lines, list };
}

describe('E8: settings of a running server', () => {
  it('follow the user’s file, starting with the next command', async () => {
    const { write, file, list, live } = await open('allowed_commands: [ls]\n');
    expect(await list()).toEqual(['ls']);
    write('allowed_commands: [ls, git]\nconfirm: unlisted\n');
    const [one, other] = await Promise.all([list(), list()]);
    expect([one, other]).toEqual([
      ['ls', 'git'],
      ['ls', 'git'],
    ]);
    expect(live.now().values.confirm).toBe('unlisted');
    write('policy: [{verdict: deny, program: rm, reason: no., examples: {matches: [rm x]}}]\n');
    expect(await list()).toBeUndefined();
    expect(live.now().policy).toHaveLength(1);
    rmSync(file);
    await list();
    expect(live.now().policy).toBeUndefined();
  });

  it('refuse every command while the file is invalid, and recover when it is fixed', async () => {
    const { write, file, list } = await open('allowed_commands: [ls]\n');
    write('allowed_commands: [ls]\ndanger: maybe\n');
    for (let tries = 0; tries < 2; tries += 1)
      await expect(list()).rejects.toMatchObject({
        code: 'settings_invalid',
        message: `${file}:2: danger cannot be "maybe"; expected one of off, block.`,
        hint: 'Correct or remove the setting in the settings file; until then no command runs.',
      });
    write('allowed_commands: [cat]\n');
    expect(await list()).toEqual(['cat']);
  });

  it('that need a restart name the process to restart', async () => {
    const { write, file, list } = await open('sandbox: strict\n');
    write('sandbox: off\nmax_running: 3\n');
    await expect(list()).rejects.toMatchObject({
      message: `The settings have changed: sandbox (${file}:1), max_running (${file}:2). They take effect only after a restart, so this server runs no more commands.`,
      hint: `To apply them, the user has to restart this server (process ${process.pid}) or the client that started it.`,
    });
    write('{}\n');
    await expect(list()).rejects.toThrow('sandbox (no longer set)');
    write('sandbox: strict # as before\n');
    expect(await list()).toBeUndefined();
  });

  it('that restrict nothing are logged and apply after a restart', async () => {
    const { write, lines, list, file } = await open('{}\n');
    write('tombstone_seconds: 5\n');
    await list();
    expect(lines).toEqual([
      `nacre: tombstone_seconds has changed (${file}:1); restart this server to apply it.\n`,
    ]);
  });

  it('T10: do not change if a command could have written the file', async () => {
    const { write, list } = await open('allowed_commands: [ls]\n', { hidden: false });
    write('allowed_commands: ["*"]\n');
    await expect(list()).rejects.toMatchObject({
      message: expect.stringContaining('A command could have written them'),
      hint: expect.stringContaining(`process ${process.pid}`),
    });
    write('# as before\nallowed_commands: [ls]\n');
    expect(await list()).toEqual(['ls']);
  });

  it('T10: ignore later changes of the project’s file, which commands can write', async () => {
    const { home, write, live } = await open('allowed_commands: [ls, git]\n');
    writeFileSync(join(home, 'nacre.yaml'), 'allowed_commands: [ls]\n');
    const source = createSettingsSource(parseFlags([], allSettings), { env: { HOME: home }, cwd: home });
    expect((await source.read()).values.allowedCommands).toEqual(['ls']);
    rmSync(join(home, 'nacre.yaml'));
    write('allowed_commands: [ls, git, cat]\n');
    expect((await source.read()).values.allowedCommands).toEqual(['ls']);
    expect(live.now().values.allowedCommands).toEqual(['ls', 'git']);
  });

  it('do not override flags', async () => {
    const { write, list } = await open('{}\n', { flags: ['--allow', 'ls'] });
    write('allowed_commands: ["*"]\n');
    expect(await list()).toEqual(['ls']);
  });

  it('change the list that the kernel enforces, too', async () => {
    const { write, list } = await open('exec: report\nallowed_commands: [ls]\n');
    write('exec: report\nallowed_commands: [ls, cat]\n');
    expect(await list()).toEqual(['ls', 'cat']);
  });

  it('can be fixed', async () => {
    const { live } = await open('{}\n');
    const fixed = fixedSettings(live.now());
    await fixed.refresh();
    expect(fixed.now()).toBe(live.now());
  });
});
