import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPlace, runInProcess } from '../support/nacre.ts';
import { openTerminal } from '../support/terminal.ts';

// Each test starts nacre as a process, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const place = createPlace({ TZ: 'Pacific/Kiritimati', TERM: 'xterm' });
const hostile =
  "printf '\u001b]0;title\u0007\u202e\u001b[31m' 12345678901234567890 12345678901234567890 > /dev/null";
const colour = /\u001b\[[\d;]*m/g;

beforeAll(async () => {
  await runInProcess(['run', 'true'], place);
  await runInProcess(['run', '--allow', 'ls', 'rm notes.txt'], place);
  await runInProcess(['run', hostile], place);
});
afterAll(() => rmSync(place.cwd, { recursive: true }));

/** The lines that a terminal shows, and whether they had colours. */
async function shown(argv: readonly string[], columns: number, env: Readonly<Record<string, string>> = {}) {
  const terminal = openTerminal(argv, { ...place, env: { ...place.env, ...env } }, columns);
  await terminal.ended;
  const text = terminal.text().replaceAll('\r\n', '\n');
  return { lines: text.replace(colour, '').split('\n').slice(0, -1), hasColour: text.match(colour) !== null };
}

describe('nacre history at a terminal', () => {
  it.each([40, 80, 120])('is a table with a header that fits %i columns', async (columns) => {
    const { lines, hasColour } = await shown(['history'], columns);
    expect(hasColour).toBe(true);
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(columns < 80 ? /^ID +OUTCOME +COMMAND$/ : /^STARTED +ID +OUTCOME .*COMMAND$/);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
    expect(lines.join('\n')).toMatch(/^[^\p{Cc}\u202e]*$/mu);
  });

  it('shows local times', async () => {
    const { lines } = await shown(['history', '--limit', '1'], 120);
    const [, day, clock] = /^(\S+) (\S+) /.exec(lines[1] ?? '') ?? [];
    const here = new Date(`${day}T${clock}+14:00`);
    expect(Math.abs(Date.now() - here.getTime())).toBeLessThan(600_000);
  });

  it('has no colours with NO_COLOR, and colours in a pipe only with FORCE_COLOR', async () => {
    const plain = await shown(['history'], 120, { NO_COLOR: '1' });
    expect(plain.hasColour).toBe(false);
    expect(plain.lines[0]).toMatch(/^STARTED/);
    const piped = await runInProcess(['history'], place);
    expect(piped.stdout).not.toMatch(colour);
    expect(piped.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}cmd_/);
    const forced = await runInProcess(['history'], { ...place, env: { ...place.env, FORCE_COLOR: '1' } });
    expect(forced.stdout).toMatch(/^\u001b\[1mSTARTED/);
  });
});

describe('other tables at a terminal', () => {
  it('nacre check colours the verdict, lists programs in a table and escapes control characters', async () => {
    const { lines, hasColour } = await shown(['check', '--allow', 'ls', "ls; '\u001b[31mx'"], 80);
    expect(hasColour).toBe(true);
    expect(lines[0]).toContain('deny: \\u{1b}[31mx is not allowed');
    expect(lines).toContainEqual(expect.stringMatching(/^PROGRAM +AT +STARTED BY +FILE$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ls +0-2 +- +\/\S+\/ls$/));
    const piped = await runInProcess(['check', 'ls'], place);
    expect(piped.stdout).toMatch(/^allow: .*\nrule: \S+\nprograms:\n {2}ls \(0-2, /);
  });

  it('nacre ps has a header', async () => {
    const { lines, hasColour } = await shown(['ps'], 80);
    expect([lines, hasColour]).toEqual([['ID  NAME  STATUS  TIME  CPU  MEMORY  PORTS  COMMAND'], true]);
  });

  it('nacre doctor fits the width, and colours each status', async () => {
    const { lines, hasColour } = await shown(['doctor'], 80);
    expect(hasColour).toBe(true);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^ok {7}node: /));
  });
});
