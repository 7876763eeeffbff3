import { describe, expect, it } from 'vitest';
import { doors } from '../../src/doors/catalog.ts';
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
    for (const [name, { summary }] of Object.entries(doors)) {
      expect(overview.stdout).toMatch(new RegExp(`^ {2}${name} +${summary.replace(/[().]/g, '\\$&')}$`, 'm'));
    }
    for (const word of ['--help', '-h', 'help']) expect(await nacre(word)).toEqual(overview);
  });

  it.each(Object.keys(doors))('prints the help of %s for --help, -h and help NAME', async (name) => {
    const help = await nacre(name, '--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(new RegExp(`^Usage: nacre ${name} \\[FLAG\\.\\.\\.\\]`, 'm'));
    expect(help.stdout).toContain('--allow LIST');
    expect(help.stdout).toContain('--config PATH');
    expect(await nacre(name, '-h')).toEqual(help);
    expect(await nacre('help', name)).toEqual(help);
    expect(help.stdout.split('\n').every((line) => line.length <= 110)).toBe(true);
  });

  it('refuses an unknown command, and suggests a similar one', async () => {
    const { code, stdout, stderr } = await nacre('rnu', 'x');
    expect([code, stdout]).toEqual([125, '']);
    expect(stderr).toBe(
      'nacre: Unknown command: rnu. Did you mean run?\nnacre: Run nacre --help to list the commands.\n',
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
