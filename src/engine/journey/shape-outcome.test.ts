import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { shapeOutcome } from './shape-outcome.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const mebibyte = 1_048_576;
const zeros = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' 'x'`;

describe('E3: a large output', () => {
  test('of up to 8 MiB keeps both ends and the exact count of omitted characters', async () => {
    const script = `echo first; ${zeros(8 * mebibyte - 13)}; echo; echo last`;
    const outcome = await here.run(script, { maxOutputChars: 1_000 });
    expect(outcome).toMatchObject({ stdoutBytes: 8 * mebibyte - 1, truncated: true });
    expect(outcome.stdout).toMatch(/^first\n/);
    expect(outcome.stdout).toMatch(/last\n$/);
    const [, count = ''] =
      /\[Output truncated: ([\d,]+) characters \(1 line\) left out\. Ask for more\.\]/.exec(outcome.stdout) ??
      [];
    expect(Number(count.replaceAll(',', ''))).toBeGreaterThan(8 * mebibyte - 1_100);
  });

  test('of more than 8 MiB keeps both ends and the approximate count of omitted bytes', async () => {
    const script = `echo first; yes 'a line of text' | head -c ${9 * mebibyte}; echo; echo last`;
    const outcome = await here.run(script, { maxOutputChars: 1_000 });
    expect(outcome.stdout).toMatch(/^first\na line of text\n/);
    expect(outcome.stdout).toMatch(/a line of text\n[a-z ]*\nlast\n$/);
    expect(outcome.stdout).toMatch(/\[Output truncated: about 9\.\d+ M/);
    expect(outcome.stdout.length).toBeLessThan(1_200);
    expect(outcome).toMatchObject({ truncated: true, stderr: '' });
  });

  test('keeps a short text on the other stream, wherever it was printed', async () => {
    const script = `${zeros(5 * mebibyte)}; echo 'the only error' >&2; ${zeros(5 * mebibyte)}`;
    const outcome = await here.run(script, { maxOutputChars: 1_000 });
    expect(outcome.stderr).toBe('the only error\n');
    const early = await here.run(`echo early >&2; ${zeros(9 * mebibyte)}; echo late >&2`, {
      maxOutputChars: 1_000,
    });
    expect(early.stderr).toBe('early\nlate\n');
  });

  test('keeps the beginning and the end of a longer text on the other stream', async () => {
    const errors = `{ echo begin; seq 1 500000; echo end; } >&2`;
    const outcome = await here.run(`${zeros(4 * mebibyte)}; ${errors}; ${zeros(4 * mebibyte)}`, {
      maxOutputChars: 2_000,
    });
    expect(outcome.stderr).toMatch(/^begin\n1\n2\n/);
    expect(outcome.stderr).toMatch(/\n500000\nend\n$/);
  });
});

test('a job that has not ended has no outcome', async () => {
  const worker = createTestWorker();
  const id = await worker.start('sleep 5');
  const state = await worker.worker.wait(id, 0);
  const backend = { abilities: { killTree: 'group' }, ...worker.worker } as const;
  const outcome = shapeOutcome(backend, state, { cwd: '/', maxOutputChars: 10, howToGetRest: '' });
  await expect(outcome).rejects.toMatchObject({ code: 'internal' });
  await worker.close();
});
