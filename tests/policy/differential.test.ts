import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { Dice } from './random/dice.ts';
import { type Arena, createArena } from './random/run-in-bash.ts';
import { helpers, randomScript, stubs } from './random/scripts.ts';

const count = Number(process.env.NACRE_DIFFERENTIAL_CASES ?? 8_000);
const seed = Number(process.env.NACRE_DIFFERENTIAL_SEED ?? 20_261);
const batchSize = 20;
const builtins = execFileSync('bash', ['-c', 'compgen -b'], { encoding: 'utf8' }).trim().split('\n');
const everything = [...builtins, ...helpers, ...stubs];

let arena: Arena;
beforeAll(() => {
  arena = createArena();
});
afterAll(() => arena.close());

/** The stubs that ran although the policy would have allowed the script without them on the list. */
function unseen(script: string, ran: ReadonlySet<string>): string[] {
  return [...ran].filter((name) => {
    const list = everything.filter((one) => one !== name);
    return decideCommand(script, list).verdict === 'allow';
  });
}

/** The script without the statements that the violation does not need. */
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
  return ran !== undefined && unseen(script, ran).length > 0;
}

describe('P: the policy against bash itself', () => {
  test(
    `P2 P4 P6: whatever bash starts, the policy has seen (seed ${seed}, ${count} scripts)`,
    async () => {
      const dice = new Dice(seed);
      const scripts = Array.from({ length: count }, () => randomScript(dice));
      // What is refused with everything listed cannot be allowed with less, so bash need not run it.
      const open = scripts.filter((one) => decideCommand(one.join('\n'), everything).verdict === 'allow');
      const failures: string[][] = [];
      let started = 0;
      const work = async (from: number): Promise<void> => {
        for (let at = from; at < open.length; at += 2 * batchSize) {
          const batch = open.slice(at, at + batchSize);
          const logs = await arena.run(batch.map((statements) => statements.join('\n')));
          batch.forEach((statements, index) => {
            const ran = logs[index] ?? new Set();
            if (ran.size > 0) started++;
            if (unseen(statements.join('\n'), ran).length > 0) failures.push(statements);
          });
        }
      };
      await Promise.all([work(0), work(batchSize)]);
      const shown = await Promise.all(failures.slice(0, 10).map(minimised));
      console.log(
        `seed ${seed}: of ${count} scripts ${open.length} pass when all is listed, ${started} of them start a stub`,
      );
      expect(shown, `seed ${seed}, ${failures.length} scripts`).toEqual([]);
      // Both sides must have had something to do.
      expect(open.length).toBeGreaterThan(count / 10);
      expect(started).toBeGreaterThan(open.length / 2);
    },
    60_000 + count * 20,
  );
});
