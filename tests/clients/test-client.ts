// The tests that every client runs; `NAME.test.ts` calls `testClient(NAME)`:
// 1. the loop of `steps.ts` without a terminal, and each result as the model received it,
// 2. the parts of a result that it passes on,
// 3. questions and Esc at a terminal, for clients that ask their user there,
// 4. signals that end the client while a command runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type KnownClient, knownClients } from '../../src/clients/known-clients.ts';
import { drivers } from './drivers.ts';
import { findProgram, pinnedVersion } from './find-program.ts';
import { type Measured, readMeasured, recordResults } from './measured.ts';
import type { ModelResult } from './model/protocol.ts';
import { runCalls, type Stage } from './run-loop.ts';
import { approvalStep, standardSteps } from './steps.ts';
import { testParts } from './test-parts.ts';
import { testSignals } from './test-signals.ts';
import { testTerminal } from './test-terminal.ts';

/** Declares the tests of one client. */
export function testClient(name: string): void {
  describe.skipIf(findProgram(name) === undefined)(name, () => {
    it('is the version that known-clients.ts describes', () => {
      expect(knownClients[name]?.version).toBe(pinnedVersion(name));
    });
    describe('without a terminal', () => testLoop(name, knownClients[name]));
    testParts(name);
    if (drivers[name]?.interactive !== undefined) testTerminal(name);
    testSignals(name);
  });
}

function testLoop(name: string, known: KnownClient | undefined): void {
  const steps = [...standardSteps, approvalStep];
  let stage: Stage | undefined;
  let results: readonly ModelResult[] = [];
  beforeAll(async () => {
    stage = await runCalls(name, steps);
    ({ results } = stage.script);
    recordResults(name, toMeasured(results));
  }, 120_000);

  it.each(steps.map((step, index) => ({ ...step, index })))(
    'passes on the result "$name" once, and marks it as an error or not',
    ({ once, isError, index }) => {
      const { text = '', isError: isMarked } = results[index] ?? {};
      // Qwen Code itself repeats the content of an error in what it sends to its model.
      const times = isError && name === 'qwen' ? 2 : 1;
      for (const part of once) expect(countOf(text, part), `${part} in ${text.slice(0, 3_000)}`).toBe(times);
      if (isMarked !== undefined) expect(isMarked).toBe(isError);
    },
  );

  it('passes on no result that is longer than it shows uncut', () => {
    for (const { text } of results) expect(text.length).toBeLessThanOrEqual(known?.maxChars ?? 50_000);
  });

  it('passes on no more bytes than docs/clients.md says, except for longer paths', () => {
    const before = readMeasured(name) ?? {};
    for (const [step, bytes] of Object.entries(toMeasured(results)))
      expect(bytes, step).toBeLessThanOrEqual((before[step] ?? bytes) * 1.1 + 200);
  });

  it('runs nothing that its user did not approve', () => {
    expect(existsSync(join(stage?.place.project ?? '/', 'made'))).toBe(false);
  });
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

function toMeasured(results: readonly ModelResult[]): Measured {
  return Object.fromEntries(
    [...standardSteps, approvalStep].map(({ name }, index) => [
      name,
      Buffer.byteLength(results[index]?.text ?? ''),
    ]),
  );
}
