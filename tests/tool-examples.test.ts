import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeTools } from '../scripts/reference/describe-tools.ts';
import { toolExamples } from '../scripts/reference/tool-examples.ts';
import { createNacre, type Nacre, toText } from '../src/index.ts';
import type { ToolFamily } from '../src/tools/settings.ts';
import { createPlace, survivors } from './support/nacre.ts';
import { commandLine, processesWith } from './support/processes.ts';

// Repeats the calls in the reference and compares the replies; the calls of a family depend on one another.
const place = createPlace({});
const open: Nacre[] = [];
let lastId = '';

afterAll(async () => {
  await Promise.all(open.map((nacre) => nacre.close()));
  expect(await survivors(place.mark)).toEqual([]);
});

it('every tool has an example', () => {
  const names = Object.values(describeTools())
    .flat()
    .map(({ name }) => name);
  expect([...new Set(toolExamples.map(({ tool }) => tool))].sort()).toEqual([...names].sort());
});

describe.each(Object.entries(describeTools()))('%s', (family, tools) => {
  const names = tools.map(({ name }) => name);
  const examples = toolExamples.filter(({ tool }) => names.includes(tool));
  let nacre: Nacre;

  beforeAll(async () => {
    const settings = { tools: [family as ToolFamily], allowedCommands: ['*'] };
    nacre = await createNacre(settings, { env: place.env, cwd: '/' });
    open.push(nacre);
  });

  it.each(examples)('$tool replies as the reference shows', async ({ tool, input, reply }) => {
    const args = Object.fromEntries(
      Object.entries(input).map(([name, value]) => [name, value === 'ID' ? lastId : value]),
    );
    const text = toText(await nacre.registry.execute(tool, args));
    lastId = /\b(?:cmd|shell)_[0-9a-f]{8,12}\b/.exec(text)?.[0] ?? lastId;
    expect(withoutVariableParts(text)).toBe(reply);
    if (input.run_in_background) await expect.poll(hasSleep, { timeout: 10_000 }).toBe(true);
  });
});

/** True once the command `echo ready; sleep 60` has printed its line. */
function hasSleep(): boolean {
  return processesWith(place.mark).some((pid) => commandLine(pid).startsWith('sleep'));
}

function withoutVariableParts(text: string): string {
  return text
    .replaceAll(/\b(?:cmd|shell)_[0-9a-f]{8,12}\b/g, 'ID')
    .replaceAll(/\b(age_ms|cpu_ms|memory_bytes): \d+/g, '$1: N')
    .replaceAll('"/bin/', '"/usr/bin/')
    .replaceAll(/\b\d+ms\b/g, 'Nms');
}
