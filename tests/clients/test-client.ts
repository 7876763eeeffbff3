// The tests that every client runs; `NAME.test.ts` calls `testClient(NAME)`.
import { beforeAll, describe, expect, it } from 'vitest';
import { knownClients } from '../../src/clients/known-clients.ts';
import { drivers } from './drivers.ts';
import { findProgram, pinnedVersion } from './find-program.ts';
import { type Measured, recordResults } from './measured.ts';
import { startModel } from './model/model-server.ts';
import type { ModelResult } from './model/protocol.ts';
import { createPlace, initClient } from './place.ts';
import { startClient } from './run-client.ts';
import { type ScriptedCall, scriptCalls } from './scripted.ts';
import { standardSteps } from './steps.ts';

/** Declares the tests of one client. */
export function testClient(name: string): void {
  describe.skipIf(findProgram(name) === undefined)(name, () => {
    let results: readonly ModelResult[] = [];
    beforeAll(async () => {
      ({ results } = await runCalls(name, standardSteps));
      recordResults(name, toMeasured(results));
    }, 120_000);

    it('is the version that known-clients.ts describes', () => {
      expect(knownClients[name]?.version).toBe(pinnedVersion(name));
    });

    it.each(standardSteps.map((step, index) => ({ ...step, index })))(
      'passes on the result of $name once, and marks it as an error or not',
      ({ once, isError, index }) => {
        const { text = '', isError: isMarked } = results[index] ?? {};
        for (const part of once) expect(countOf(text, part), `${part} in ${text.slice(0, 2_000)}`).toBe(1);
        if (isMarked !== undefined) expect(isMarked).toBe(isError);
      },
    );
  });
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

function toMeasured(results: readonly ModelResult[]): Measured {
  return Object.fromEntries(
    standardSteps.map(({ name }, index) => [name, Buffer.byteLength(results[index]?.text ?? '')]),
  );
}

/** Runs a client without a terminal until the scripted model has made these calls. */
async function runCalls(name: string, calls: readonly ScriptedCall[]) {
  const driver = drivers[name];
  if (driver === undefined) throw new Error(`${name} has no driver.`);
  const script = scriptCalls(calls);
  const model = await startModel(script.next);
  try {
    const place = createPlace(model.url);
    driver.configure(place);
    initClient(place, name);
    const client = startClient(name, place, driver.headless(place));
    const ended = await client.ended;
    if (script.results.length < calls.length)
      throw new Error(
        `${name} ended with ${ended} after ${script.results.length} results: ${client.output()} ${model.paths.join(', ')}`,
      );
    return { results: script.results, tools: script.tools, place };
  } finally {
    await model.close();
  }
}
