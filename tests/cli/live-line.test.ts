import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import headless from '@xterm/headless';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLiveLine } from '../../src/doors/cli/live-line.ts';
import { createWorkflowView } from '../../src/doors/cli/workflow-view.ts';
import { cut, lastLine, toDuration } from '../../src/doors/terminal-text.ts';
import type { StepResult, WorkflowResult } from '../../src/workflows/events.ts';
import { collect, createPlace, endOf, startInProcess, startReal, survivors } from '../support/nacre.ts';
import { openTerminal } from '../support/terminal.ts';

const place = createPlace({ TERM: 'xterm' });
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
});

/** A shell command that waits until `release(name)` is called. */
const waitFor = (name: string) => `until [ -e ${name} ]; do sleep 0.05; done`;
const release = (name: string) => writeFileSync(join(place.cwd, name), '');

/** The text on the screen of a terminal at the end. */
async function screenOf(text: string, cols: number, rows = 24): Promise<string> {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(text, done));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row) =>
    active.getLine(row)?.translateToString(true),
  );
  return lines.join('\n').trimEnd();
}

// Most of each test is the two seconds of silence before the line is drawn, so all commands start together.
writeFileSync(
  join(place.cwd, 'w.yaml'),
  `steps:\n  - id: slow\n    command: echo begun; ${waitFor('slow')}\n`,
);
const busy = 'for i in 1 2 3 4 5; do echo $i; sleep 0.5; done';
const silent = openTerminal(
  ['run', `echo one; for ((i = 0; i < 300000; i++)); do :; done; ${waitFor('two')}; echo two`],
  place,
  80,
);
const unfinished = openTerminal(['run', `printf one; ${waitFor('two')}; echo two`], place, 80);
const talking = openTerminal(['run', busy], place);
const dumb = openTerminal(['run', 'echo a; sleep 2.6'], { ...place, env: { ...place.env, TERM: 'dumb' } });
const piped = endOf(startReal(['run', 'echo a; sleep 2.6; printf b'], place));
const workflow = openTerminal(['workflow', 'w.yaml'], place, 100);
const inProcess = startInProcess(['run', `echo a; ${waitFor('a')}`], place);
for (const end of [inProcess.stdout, inProcess.stderr]) Object.assign(end, { isTTY: true, columns: 60 });

describe('nacre run at a terminal', () => {
  it('shows elapsed time, CPU time and the last line after two seconds of silence, and erases them', async () => {
    await silent.shows(/running for \d+ s, CPU \d+\.\d s: one/);
    expect(silent.text().indexOf('running')).toBeGreaterThan(silent.text().indexOf('one\r\n'));
    await unfinished.shows(/one[\s\S]*running for \d+ s, CPU \d+\.\d s: one/);
    release('two');
    expect([await silent.ended, await unfinished.ended]).toEqual([0, 0]);
    expect(await screenOf(silent.text(), 80)).toBe('one\ntwo');
    expect(await screenOf(unfinished.text(), 80)).toBe('onetwo');
  });

  it('shows no line while the command prints output, nor with TERM=dumb', async () => {
    expect([await talking.ended, await dumb.ended]).toEqual([0, 0]);
    for (const { text } of [talking, dumb]) expect(text()).not.toContain('running for');
    expect(dumb.text()).toBe('a\r\n');
  });
});

describe('nacre run with terminal streams', () => {
  it('S7: shows growing CPU time, and erases the line at the end', async () => {
    await expect.poll(inProcess.err.text, { timeout: 10_000 }).toMatch(/running for \d+ s, CPU \d+\.\d s: a/);
    release('a');
    const { code, stdout, stderr } = await inProcess.ended;
    expect([code, stdout]).toEqual([0, 'a\n']);
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  });
});

describe('nacre run on a pipe', () => {
  it('prints only the output of the command, even after a long silence', async () => {
    const { stdout, stderr } = await piped;
    expect([stdout, stderr]).toEqual(['a\nb', '']);
  });
});

describe('nacre workflow at a terminal', () => {
  it('shows the CPU time of a step after two seconds of silence', async () => {
    await workflow.shows(/slow {2}\d+\.\d s {2}begun/);
    await workflow.shows(/slow {2}\d+\.\d s {2}CPU \d+\.\d s {2}begun/);
    release('slow');
    expect(await workflow.ended).toBe(0);
    expect(await screenOf(workflow.text(), 100)).toMatch(/^✓ slow {2}\d+\.\d s\ncompleted after \d+\.\d s$/);
  });
});

describe('the workflow view', () => {
  it.each([
    ['more steps than rows', 40, 6, 30],
    ['lines longer than the terminal is wide', 12, 24, 3],
  ])('redraws only its own lines, with %s', async (_, columns, rows, count) => {
    vi.useFakeTimers();
    const terminal = Object.assign(new PassThrough(), { columns, rows });
    const shown = collect(terminal);
    const view = createWorkflowView(terminal);
    const event = { run: 'run_1', time: '' };
    const steps = Array.from({ length: count }, (__, at) => `s${at}`);
    const last = `s${count - 1}`;
    const onScreen = () => screenOf(shown.text().replaceAll('\n', '\r\n'), columns, rows);
    view.show({ ...event, type: 'run_started', steps });
    view.show({ ...event, type: 'step_started', step: last, attempt: 1 });
    view.show({ ...event, type: 'step_output', step: last, stream: 'stdout', text: '漢'.repeat(99) });
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect(shown.text().match(/\u001b\[\d+A/g)?.length).toBeGreaterThan(4);
    const running = (await onScreen()).split('\n');
    expect(running.length).toBeLessThan(rows);
    expect(running.filter((line) => line.includes(` ${last} `))).toHaveLength(1);
    const result = (id: string) => ({ id, status: 'completed', duration_ms: 1 }) as StepResult;
    for (const id of steps) view.show({ ...event, type: 'step_finished', step: id, result: result(id) });
    view.show({
      ...event,
      type: 'run_finished',
      result: {
        run: 'run_1',
        status: 'completed',
        duration_ms: 1,
        steps: steps.map(result),
      } as WorkflowResult,
    });
    await view.close();
    const done = await onScreen();
    for (const id of steps)
      expect(done.split('\n').filter((line) => line.includes(` ${id} `))).toHaveLength(1);
  });
});

describe('the status line', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function open(columns: number) {
    const terminal = Object.assign(new PassThrough(), { columns });
    const shown = collect(terminal);
    const line = createLiveLine(terminal, () => Date.now());
    const print = (text: string) => {
      const before = line.beforeOutput(Buffer.from(text));
      terminal.write(`${before}${text.replaceAll('\n', '\r\n')}`);
    };
    const wait = async (ms: number) => {
      vi.setSystemTime(Date.now() + ms);
      await vi.advanceTimersByTimeAsync(1_000);
    };
    return { line, print, wait, shown: shown.text };
  }
  const screen = (text: string, columns: number) => {
    vi.useRealTimers();
    return screenOf(text, columns);
  };

  it('never wraps and contains no control sequence of the command', async () => {
    const { line, print, wait, shown } = open(40);
    print(`\u001b[31m${'漢字'.repeat(40)}\u001b]0;title\u0007\u202e\u0000\n`);
    await wait(3_700_000);
    line.close();
    const [, drawn = ''] = /\r\u001b\[2K(running[^\u001b\r\n]*)/.exec(shown()) ?? [];
    expect(drawn).toMatch(/^running for 1 h 01 min: 漢字.*…$/u);
    expect(await screen(shown(), 40)).not.toContain('running');
  });

  it('is drawn below an unfinished coloured line, whose text continues afterwards', async () => {
    const { line, print, wait, shown } = open(80);
    print('\u001b[32m?\u001b[0m Continue ');
    await wait(4_000);
    print('yes\n');
    line.close();
    expect(shown()).toContain('running for 5 s: ? Continue');
    expect(await screen(shown(), 80)).toBe('? Continue yes');
  });

  it.each([
    [80, '10%\r20%'],
    [80, 'färbe'],
    [80, 'x'.repeat(200)],
    [15, 'a\n'],
  ])(
    'is not drawn if the cursor column is unknown or the terminal is too narrow: %d columns, %j',
    async (columns, text) => {
      const { line, print, wait, shown } = open(columns);
      print(text);
      await wait(5_000);
      line.close();
      expect(shown()).not.toContain('running');
    },
  );
});

describe('text for a terminal', () => {
  it('is cut to columns and has no control characters', () => {
    expect(cut('abc  ', 3)).toBe('abc');
    expect(cut('abcd', 3)).toBe('ab…');
    expect(cut('漢字漢', 4)).toBe('漢…');
    expect(lastLine('a\n\u001b[1mb\u001b[0m\tc\n\n')).toBe('b c');
    expect(lastLine('10%\r20%\r')).toBe('20%');
  });

  it.each([
    [999, '0 s'],
    [61_000, '1 min 01 s'],
    [3_599_000, '59 min 59 s'],
    [7_260_000, '2 h 01 min'],
  ])('%i ms is %s', (ms, text) => {
    expect(toDuration(ms)).toBe(text);
  });
});
