import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { execAllowOf } from '../support/exec-list.ts';
import { needLandlock, needLevel, needPrograms } from '../support/needs.ts';
import { soakCount } from '../support/soak.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';
import { Dice } from './random/dice.ts';
import { helpers, randomScript, stubs } from './random/scripts.ts';

const count = Number(process.env.NACRE_FUZZ_COUNT ?? soakCount(2_000, 500));
const seed = Number(process.env.NACRE_FUZZ_SEED ?? 20_262);
const batchSize = 25;

// A stub is an ELF program: a script could also be read by the shell, which no kernel can forbid.
const source = `#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  const char *log = getenv("LOG");
  int fd = open(log ? log : LOST, O_CREAT | O_WRONLY | O_APPEND, 0666);
  write(fd, words[0], strlen(words[0]));
  write(fd, "\\n", 1);
  return 0;
}
`;

const runner = `ulimit -t 2 -f 2048 -c 0
for file in "$CASES"/*; do
  export LOG=$LOGS/\${file##*/}
  cd "$WORK" && bash -c "$(<"$file")" < /dev/null > /dev/null 2>&1
done`;

let here: TestWorker;
afterEach(() => here.close());

/** A worker without policy, in whose PATH are stubs that log their start, and the programs that the scripts use. */
function open(exec: 'off' | 'enforce'): TestWorker {
  here = createTestWorker({
    ...{ highestLevel: 'namespace', exec, sandbox: 'workspace', home: temporaryFolder() },
    execAllow: execAllowOf(helpers),
  });
  for (const name of ['bin', 'work', 'logs']) mkdirSync(join(here.folder, name));
  for (const name of helpers) symlinkSync(locate(name), join(here.folder, 'bin', name));
  buildStubs(join(here.folder, 'bin'));
  return here;
}

function buildStubs(bin: string): void {
  const [first = '', ...others] = stubs.map((name) => join(bin, name));
  const lost = join(here.folder, 'logs', 'lost');
  writeFileSync(`${first}.c`, source);
  execFileSync(locate('gcc'), ['-w', '-static', `-DLOST="${lost}"`, '-o', first, `${first}.c`]);
  for (const path of others) copyFileSync(first, path);
  for (const name of stubs) copyFileSync(first, join(here.folder, 'work', name));
  for (const name of stubs) chmodSync(join(bin, name), 0o755);
}

function locate(name: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
}

/** Runs numbered scripts one after another; those of a batch that hangs are run again one by one. */
async function runBatch(worker: TestWorker, batch: readonly (readonly [number, string])[]): Promise<void> {
  const cases = mkdtempSync(join(worker.folder, 'cases-'));
  for (const [number, script] of batch) writeFileSync(join(cases, `${number}`), script);
  const folders = { CASES: cases, LOGS: join(worker.folder, 'logs'), WORK: join(worker.folder, 'work') };
  const env = { ...folders, PATH: join(worker.folder, 'bin'), FUNCNEST: '20' };
  const timeoutMs = batch.length === 1 ? 3_000 : 10_000;
  const { state } = await worker.run(runner, { env, timeoutMs });
  rmSync(cases, { recursive: true });
  if (state.end?.cause === 'timeout' && batch.length > 1)
    for (const one of batch) await runBatch(worker, [one]);
}

/** Runs scripts, and returns the numbers of those that started a stub. */
async function runAll(worker: TestWorker, scripts: readonly string[]): Promise<readonly string[]> {
  const numbered = [...scripts.entries()];
  const work = async (from: number) => {
    for (let at = from; at < scripts.length; at += 2 * batchSize)
      await runBatch(worker, numbered.slice(at, at + batchSize));
  };
  await Promise.all([work(0), work(batchSize)]);
  return readdirSync(join(worker.folder, 'logs'));
}

describe('the kernel alone, without policy', () => {
  test(
    `never starts a program that is not listed (seed ${seed}, ${count} scripts)`,
    async (context) => {
      await needLandlock(context);
      await needLevel(context, 'namespace');
      needPrograms(context, 'gcc', ...helpers);
      const dice = new Dice(seed);
      const scripts = Array.from({ length: count }, () => randomScript(dice).join('\n'));
      const some = scripts.slice(0, 100);
      const started = await runAll(open('off'), some);
      await here.close();
      // Without the kernel's help most of these scripts start a stub, so the test can fail.
      expect(started.length).toBeGreaterThan(some.length / 2);
      const ran = await runAll(open('enforce'), scripts);
      expect(ran.map((name) => scripts[Number(name)] ?? name)).toEqual([]);
    },
    120_000 + count * 60,
  );
});
