import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createPlace, type Place, startReal, survivors } from '../support/nacre.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

const marks: string[] = [];
afterAll(async () => {
  for (const mark of marks) expect(await survivors(mark)).toEqual([]);
});

const question = /Programs that agents may run: none, read-only, git, .*, full \[(\S+)\]: /;
const createHome = () => {
  const place = createPlace();
  marks.push(place.mark);
  return { place, file: join(place.cwd, '.config', 'nacre', 'config.yaml') };
};
const serve = (place: Place, ...argv: string[]) => openTerminal(['serve', '--port', '0', ...argv], place);
const linkIn = (text: string) => /http\S+\/open\?ticket=[\w-]+/.exec(text)?.[0] ?? '';
const stop = async (terminal: Terminal) => {
  terminal.type('\x03');
  expect(await terminal.ended).toBe(0);
};

/** The lines on the terminal that are not empty. */
const lines = ({ text }: Terminal) =>
  text()
    .trimEnd()
    .split(/[\r\n]+/);

describe.concurrent('nacre serve without a list of programs', () => {
  it('asks once at a terminal, remembers the answer and serves the preset', async ({ expect }) => {
    const { place, file } = createHome();
    writeFileSync(join(place.cwd, 'package.json'), '{}');
    const first = serve(place);
    await first.shows(question);
    expect(question.exec(first.text())?.[1]).toBe('dev-node');
    first.type('read-onyl\r');
    await first.shows('read-onyl is not a preset. Did you mean read-only?');
    first.type('git\r');
    await first.shows(/open\?ticket=/);
    expect(first.text()).toContain('may run the programs of the preset git');
    expect(first.text()).not.toContain('is refused');
    expect(readFileSync(file, 'utf8')).toBe('preset: git\n');
    expect((await fetch(linkIn(first.text()))).status).toBe(200);
    expect(lines(first).at(-1)).toContain('/open?ticket=');
    await stop(first);

    const second = serve(place);
    await second.shows(/open\?ticket=/);
    expect(second.text()).not.toMatch(question);
    expect(second.text()).toContain('may run the programs of the preset git');
    await stop(second);
  });

  it('keeps the settings file, and proposes a preset that Enter accepts', async ({ expect }) => {
    const { place, file } = createHome();
    mkdirSync(join(place.cwd, '.config', 'nacre'), { recursive: true });
    writeFileSync(file, '# mine\nconfirm: never\n');
    const terminal = serve(place);
    await terminal.shows(question);
    terminal.type('\r');
    await terminal.shows(/may run the programs of the preset dev\b/);
    expect(readFileSync(file, 'utf8')).toBe('# mine\nconfirm: never\npreset: dev\n');
    await terminal.shows(/open\?ticket=/);
    await stop(terminal);
  });

  it('starts nothing and writes nothing if there is no answer', async ({ expect }) => {
    const { place, file } = createHome();
    const terminal = serve(place);
    await terminal.shows(question);
    terminal.type('\x03');
    expect(await terminal.ended).not.toBe(0);
    expect(terminal.text()).toContain('--preset NAME answers in advance');
    expect(existsSync(file)).toBe(false);
  });

  it('does not ask if --preset answers, or ALLOWED_COMMANDS is set to nothing', async ({ expect }) => {
    const { place, file } = createHome();
    const terminals = [
      serve(place, '--preset', 'read-only'),
      serve({ ...place, env: { ...place.env, ALLOWED_COMMANDS: '' } }),
    ];
    for (const terminal of terminals) {
      await terminal.shows(/open\?ticket=/);
      expect(terminal.text()).not.toMatch(question);
    }
    expect(terminals.map((one) => /may run (.*)\./.exec(one.text())?.[1])).toEqual([
      'the programs of the preset read-only',
      'nothing',
    ]);
    await Promise.all(terminals.map(stop));
    expect(existsSync(file)).toBe(false);
  });

  it('T5: without a terminal runs nothing, and says how to choose', async ({ expect }) => {
    const { place, file } = createHome();
    const child = startReal(['serve', '--port', '0'], place);
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        text += data;
      });
    await expect.poll(() => text, { timeout: 15_000 }).toContain('/open?ticket=');
    expect(text).toMatch(
      /warning: for agents, ALLOWED_COMMANDS is not set, so every command is refused\. .*--preset/,
    );
    expect(text).toContain('may run nothing.');
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('close', resolve));
    expect(existsSync(file)).toBe(false);
  });
});
