import { describe, expect, it } from 'vitest';
import { doors } from '../../src/doors/catalog.ts';
import { sharedFlags } from '../../src/doors/shared-flags.ts';
import { allSettings } from '../../src/rules/all-settings.ts';
import { parseFlags } from '../../src/settings/parse-flags.ts';
import { toHelpRows } from '../../src/settings/to-help-rows.ts';
import { createPlace, runInProcess } from '../support/nacre.ts';

const place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);

describe('nacre', () => {
  it('prints its version', async () => {
    for (const word of ['--version', '-V', '-v', 'version']) {
      expect(await nacre(word)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      });
    }
  });

  it('prints an overview without arguments and with --help', async () => {
    const overview = await nacre();
    expect(overview).toMatchObject({ code: 0, stderr: '' });
    const rows = overview.stdout.split('\n').map((line) => line.trim().replace(/ {2,}/, ' '));
    for (const [name, { summary }] of Object.entries(doors)) expect(rows).toContain(`${name} ${summary}`);
    expect(rows.length).toBeLessThan(70);
    for (const word of ['--help', '-h', 'help']) expect(await nacre(word)).toEqual(overview);
  });

  it.each(Object.keys(doors))('prints the help of %s for --help, -h and help NAME', async (name) => {
    const help = await nacre(name, '--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(new RegExp(`^Usage: nacre ${name} \\[FLAG\\.\\.\\.\\]`, 'm'));
    expect(help.stdout).not.toContain('--allow LIST');
    expect(help.stdout).toContain('--config PATH');
    expect(help.stdout.split('\n').length).toBeLessThan(50);
    expect(await nacre(name, '-h')).toEqual(help);
    expect(await nacre('help', name)).toEqual(help);
  });

  it('lists the flags of all settings with --help --all', async () => {
    for (const argv of [
      ['--help', '--all'],
      ['help', '--all'],
      ['ps', '--help', '--all'],
      ['help', 'ps', '--all'],
    ]) {
      const { code, stdout } = await nacre(...argv);
      expect(code).toBe(0);
      for (const { left } of toHelpRows(allSettings)) expect(stdout).toContain(`  ${left}`);
    }
    const alone = await nacre('ps', '--all');
    expect(alone).toMatchObject({
      code: 125,
      stdout: '',
      stderr: expect.stringContaining('--all is used only together with --help.'),
    });
  });

  it.each([40, 80, 120])('fits help into %i columns', async (columns) => {
    const narrow = { ...place, env: { ...place.env, COLUMNS: String(columns) } };
    for (const argv of [[], ...Object.keys(doors).map((name) => [name])]) {
      const { stdout } = await runInProcess([...argv, '--help', '--all'], narrow);
      expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([]);
    }
  });

  it('shows examples whose flags exist', () => {
    for (const [name, { flags, examples, takesCommand = false }] of Object.entries(doors))
      for (const [line] of examples) {
        const [, words = ''] = /(?:^|<\()nacre ([^|>)]*)/.exec(line.replace(/'[^']*'/g, 'QUOTED')) ?? [];
        const [subcommand, ...argv] = words.trim().split(' ');
        expect(subcommand, line).toBe(name);
        const { problems } = parseFlags(
          argv,
          { ...allSettings, ...flags, ...sharedFlags },
          { stopAtPositional: takesCommand },
        );
        expect(problems, line).toEqual([]);
      }
  });

  it('keeps summaries short enough for one line of the overview', () => {
    for (const { summary } of Object.values(doors)) expect(summary.length, summary).toBeLessThanOrEqual(65);
  });

  it('refuses an unknown command, and suggests a similar one', async () => {
    const { code, stdout, stderr } = await nacre('rnu', 'x');
    expect([code, stdout]).toEqual([125, '']);
    expect(stderr).toBe(
      'nacre: Unknown command: rnu. Did you mean run?\nnacre: Run nacre --help to list the commands.\n',
    );
    for (const [word, meant] of [
      ['hsitory', 'history'],
      ['exec', 'run'],
      ['kill', 'stop'],
      ['setup', 'init'],
    ] as const)
      expect((await nacre(word)).stderr).toContain(`Unknown command: ${word}. Did you mean ${meant}?`);
    expect((await nacre('history', '--faild')).stderr).toContain(
      '--faild: Unknown flag. Did you mean --failed?',
    );
    for (const name of ['constructor', '__proto__', '']) expect((await nacre(name)).code).toBe(125);
    expect((await nacre('help', 'rnu')).stderr).toContain('Did you mean run?');
  });

  it.each(['mcp', 'doctor'])('%s refuses positional arguments', async (name) => {
    const { code, stdout, stderr } = await nacre(name, 'extra', 'words');
    expect([code, stdout]).toEqual([125, '']);
    expect(stderr).toContain(`nacre ${name} accepts only flags, not extra words.`);
  });
});
