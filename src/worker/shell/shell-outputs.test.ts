import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDescriptors, processesWith } from '../../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';

let here: TestWorker;
beforeEach(() => {
  here = createTestWorker();
});
afterEach(async () => {
  await here.close();
  await expect.poll(() => processesWith(`HOME=${here.folder}`)).toEqual([]);
});

const say = (script: string) => here.run(script, { session: 'main', timeoutMs: 20_000 });
/** Paths of the FIFOs that this process has open (/proc/self/fd). */
const keptOutputs = () =>
  readdirSync('/proc/self/fd')
    .map((fd) => linkOf(`/proc/self/fd/${fd}`))
    .filter((path) => path.startsWith(here.folder) && path.includes('/pipes/'));
const linkOf = (path: string) => {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
};
const out = 'out=$(readlink /proc/$$/fd/1); err=$(readlink /proc/$$/fd/2)';

describe('the outputs of a persistent shell', () => {
  test.each([
    'rm "$err"',
    'rm "$err"; sleep 0.05',
    'rm "$out"; touch "$out"',
    'rm "$err"; mkfifo "$err"',
    'rm -r "$(dirname "$out")"',
  ])('B5: are not reused once their names were tampered with: %s', async (tamper) => {
    await say(`${out}; ${tamper}`);
    for (const word of ['one', 'two']) {
      expect(await say(`echo ${word}; echo ${word} >&2`)).toMatchObject({
        stdout: `${word}\n`,
        stderr: `${word}\n`,
      });
    }
  });

  test('B5: do not carry what an earlier process wrote to them by name into the next command', async () => {
    // Only outputs of a command that ends within milliseconds are kept.
    const keepOutputs = async () => {
      await say(':');
      return keptOutputs();
    };
    await expect.poll(keepOutputs, { timeout: 10_000 }).toHaveLength(2);
    for (const path of keptOutputs()) writeFileSync(path, 'late');
    expect((await say('echo mine')).stdout).toBe('mine\n');
  });

  test.each([
    'echo x',
    // Delays `declare -p` until the outputs of the command have been read and are kept for the next one.
    '[[ $BASH_COMMAND == *"declare -p"* ]] && sleep 0.2',
  ])(
    'B5: a session without a place for pipes fails its commands, and nothing else: trap %s',
    async (trap) => {
      await say(`${out}; trap '${trap}' DEBUG; pipes=$(dirname "$out"); rm -r "$pipes"; touch "$pipes"`);
      await expect(say('echo next')).rejects.toThrow(/pipes/);
      expect((await here.run('echo other', { session: 'other' })).stdout).toBe('other\n');
    },
  );

  test('do not grow in number with many commands', async () => {
    await say('echo');
    const before = openDescriptors();
    for (let index = 0; index < 10; index++) {
      await say(`trap 'echo ${index}' DEBUG; sleep 0.0${index % 3}`);
      await say('trap - DEBUG; (sleep 0.05) & exit 3');
    }
    await expect.poll(() => openDescriptors(), { timeout: 5_000 }).toBeLessThanOrEqual(before);
  });
});
