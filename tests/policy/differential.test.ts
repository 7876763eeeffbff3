import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { soakCount } from '../support/soak.ts';
import { Dice } from './random/dice.ts';
import { type Arena, createArena } from './random/run-in-bash.ts';
import { helpers, randomScript, stubs } from './random/scripts.ts';

const count = Number(process.env.NACRE_FUZZ_COUNT ?? soakCount(8_000, 500));
const seed = Number(process.env.NACRE_FUZZ_SEED ?? 20_261);
const batchSize = 20;
const builtins = execFileSync('bash', ['-c', 'compgen -b'], { encoding: 'utf8' }).trim().split('\n');
const everything = [...builtins, ...helpers, ...stubs];

let arena: Arena;
beforeAll(() => {
  arena = createArena();
});
afterAll(() => arena.close());

/** Returns the stubs that ran although the policy allows the script without listing them. */
function missedStubs(script: string, ran: ReadonlySet<string>): string[] {
  return [...ran].filter((name) => {
    const list = everything.filter((one) => one !== name);
    return decideCommand(script, list).verdict === 'allow';
  });
}

/** Removes the lines that the violation does not need. */
async function minimised(statements: readonly string[]): Promise<string> {
  let lines = statements.flatMap((statement) => statement.split('\n'));
  for (let size = Math.ceil(lines.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < lines.length; ) {
      const fewer = [...lines.slice(0, at), ...lines.slice(at + size)];
      if (fewer.length > 0 && (await violates(fewer.join('\n')))) lines = fewer;
      else at += size;
    }
  }
  return lines.join('\n');
}

async function violates(script: string): Promise<boolean> {
  const [ran] = await arena.run([script]);
  return ran !== undefined && missedStubs(script, ran).length > 0;
}

describe('P: the policy compared with bash', () => {
  test(
    `P2 P4 P6: the policy sees every program that bash starts (seed ${seed}, ${count} scripts)`,
    async () => {
      const dice = new Dice(seed);
      const scripts = Array.from({ length: count }, () => randomScript(dice));
      // A script refused with every name listed is refused with any shorter list too, so bash need not run it.
      const allowed = scripts.filter((one) => decideCommand(one.join('\n'), everything).verdict === 'allow');
      const failures: string[][] = [];
      let started = 0;
      const work = async (from: number): Promise<void> => {
        for (let at = from; at < allowed.length; at += 2 * batchSize) {
          const batch = allowed.slice(at, at + batchSize);
          const logs = await arena.run(batch.map((statements) => statements.join('\n')));
          batch.forEach((statements, index) => {
            const ran = logs[index] ?? new Set();
            if (ran.size > 0) started++;
            if (missedStubs(statements.join('\n'), ran).length > 0) failures.push(statements);
          });
        }
      };
      await Promise.all([work(0), work(batchSize)]);
      const shown = await Promise.all(failures.slice(0, 10).map(minimised));
      console.log(
        `seed ${seed}: ${allowed.length} of ${count} scripts are allowed with everything listed, ${started} of them start a stub`,
      );
      expect(shown, `seed ${seed}, ${failures.length} scripts`).toEqual([]);
      // Make sure that the generator produces enough scripts that are allowed and start a stub.
      expect(allowed.length).toBeGreaterThan(count / 10);
      expect(started).toBeGreaterThan(allowed.length / 2);
    },
    60_000 + count * 20,
  );
});
