import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import headless from '@xterm/headless';
import { afterEach, describe, expect, it } from 'vitest';
import { createLiveLine } from '../../src/doors/cli/live-line.ts';
import { cut, lastLine, toDuration } from '../../src/doors/cli/terminal-text.ts';
import { createWorkflowView } from '../../src/doors/cli/workflow-view.ts';
import type { StepResult, WorkflowResult } from '../../src/workflows/events.ts';
import { collect, createPlace, endOf, startInProcess, startReal, survivors } from '../support/nacre.ts';
import { openTerminal } from '../support/terminal.ts';

let place = createPlace({ TERM: 'xterm' });

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace({ TERM: 'xterm' });
});

/** What a person would see at the end. */
async function screenOf(text: string, cols: number, rows = 24): Promise<string> {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(text, done));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row) =>
    active.getLine(row)?.translateToString(true),
  );
  return lines.join('\n').trimEnd();
}

describe('nacre run at a terminal', () => {
  it('tells after two seconds of silence how long, how much CPU and the last line, and leaves no trace of that', async () => {
    const command =
      'echo one; for ((i = 0; i < 300000; i++)); do :; done; sleep 3; printf two; sleep 3; echo three';
    const terminal = openTerminal(['run', command], place, 80);
    await terminal.shows(/running for \d+ s, CPU \d+\.\d s: one/);
    expect(terminal.text().indexOf('running')).toBeGreaterThan(terminal.text().indexOf('one\r\n'));
    await terminal.shows(/two[\s\S]*running for \d+ s, CPU \d+\.\d s: two/);
    expect(await terminal.ended).toBe(0);
    expect(await screenOf(terminal.text(), 80)).toBe('one\ntwothree');
  });

  it('says nothing of its own while there is output, nor at a terminal that cannot take it back', async () => {
    const busy = openTerminal(['run', 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done'], place);
    expect(await busy.ended).toBe(0);
    place = { ...place, env: { ...place.env, TERM: 'dumb' } };
    const dumb = openTerminal(['run', 'echo a; sleep 3'], place);
    expect(await dumb.ended).toBe(0);
    for (const { text } of [busy, dumb]) expect(text()).not.toContain('running for');
    expect(dumb.text()).toBe('a\r\n');
  });
});

describe('nacre run where both ends say that they are a terminal', () => {
  it('S7: tells the CPU time as it grows, and takes the line away at the end', async () => {
    const started = startInProcess(['run', 'echo a; sleep 4'], place);
    for (const end of [started.stdout, started.stderr]) Object.assign(end, { isTTY: true, columns: 60 });
    await expect.poll(started.err.text, { timeout: 10_000 }).toMatch(/running for \d+ s, CPU \d+\.\d s: a/);
    const { code, stdout, stderr } = await started.ended;
    expect([code, stdout]).toEqual([0, 'a\n']);
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  });
});

describe('nacre run on a pipe', () => {
  it('prints what the command prints and nothing else, however long it is silent', async () => {
    const { stdout, stderr } = await endOf(startReal(['run', 'echo a; sleep 3; printf b'], place));
    expect([stdout, stderr]).toEqual(['a\nb', '']);
  });
});

describe('nacre workflow at a terminal', () => {
  it('shows the CPU time of a step that has been silent for two seconds', async () => {
    writeFileSync(join(place.cwd, 'w.yaml'), 'steps:\n  - id: slow\n    command: echo begun; sleep 4\n');
    const terminal = openTerminal(['workflow', 'w.yaml'], place, 100);
    await terminal.shows(/slow {2}\d+\.\d s {2}begun/);
    await terminal.shows(/slow {2}\d+\.\d s {2}CPU \d+\.\d s {2}begun/);
    expect(await terminal.ended).toBe(0);
    expect(await screenOf(terminal.text(), 100)).toMatch(/^✓ slow {2}\d+\.\d s\ncompleted after \d+\.\d s$/);
  });
});

describe('the view of a workflow', () => {
  it.each([
    ['more steps than rows', 40, 6, 30],
    ['lines that are longer than the terminal is wide', 12, 24, 3],
  ])('draws over its own lines only, with %s', async (_, columns, rows, count) => {
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
    await expect
      .poll(() => shown.text().match(/\u001b\[\d+A/g)?.length ?? 0, { timeout: 10_000 })
      .toBeGreaterThan(4);
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

describe('the line', () => {
  function open(columns: number) {
    let time = 0;
    const terminal = Object.assign(new PassThrough(), { columns });
    const shown = collect(terminal);
    const line = createLiveLine(terminal, () => time);
    const say = (text: string) => {
      const before = line.makeWay(Buffer.from(text));
      terminal.write(`${before}${text.replaceAll('\n', '\r\n')}`);
    };
    const later = async (ms: number) => {
      time += ms;
      for (const end = Date.now() + 1_200; Date.now() < end; )
        await new Promise((done) => setTimeout(done, 100));
    };
    return { line, say, later, shown: shown.text };
  }

  it('never wraps, whatever a command wrote, and hands on no sequence of it', async () => {
    const { line, say, later, shown } = open(40);
    say(`\u001b[31m${'漢字'.repeat(40)}\u001b]0;title\u0007\u202e\u0000\n`);
    await later(3_700_000);
    line.close();
    const [, drawn = ''] = /\r\u001b\[2K(running[^\u001b\r\n]*)/.exec(shown()) ?? [];
    expect(drawn).toMatch(/^running for 1 h 01 min: 漢字.*…$/u);
    expect(await screenOf(shown(), 40)).not.toContain('running');
  });

  it('is drawn below an unfinished line in colour, and the text goes on behind it', async () => {
    const { line, say, later, shown } = open(80);
    say('\u001b[32m?\u001b[0m Continue ');
    await later(5_000);
    say('yes\n');
    line.close();
    expect(shown()).toContain('running for 5 s: ? Continue');
    expect(await screenOf(shown(), 80)).toBe('? Continue yes');
  });

  it('is not drawn where the cursor is not known, or there is no room', async () => {
    for (const [columns, text] of [
      [80, '10%\r20%'],
      [80, 'färbe'],
      [80, 'x'.repeat(200)],
      [15, 'a\n'],
    ] as const) {
      const { line, say, later, shown } = open(columns);
      say(text);
      await later(5_000);
      line.close();
      expect(shown()).not.toContain('running');
    }
  });
});

describe('text for a terminal', () => {
  it('is cut to cells, without what moves the cursor', () => {
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
  ])('%i ms is %s', (ms, words) => {
    expect(toDuration(ms)).toBe(words);
  });
});
