import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { NacreError } from '../contract/failure.ts';
import { makeFolder } from '../support/make-folder.ts';
import { removeOld } from '../support/remove-old.ts';
import type { EndedStep } from './run-step.ts';
import type { PlannedStep, Workflow } from './schema.ts';

/** Keeps what runs have completed, so that they can be resumed. */
export interface RunStore {
  save(run: string, workflow: Workflow, ended: ReadonlyMap<string, EndedStep>): void;
  /** The steps that the run has completed and that are written as they were, with all that they need. */
  load(run: string, workflow: Workflow): ReadonlyMap<string, EndedStep>;
}

const savedStep = z.object({
  /** A digest of how the step is written. */
  written: z.string(),
  result: z.custom<EndedStep['result']>((value) => typeof value === 'object' && value !== null),
  stdout: z.string(),
  stderr: z.string(),
});
const savedRun = z.object({ steps: z.record(z.string(), savedStep) });
type SavedStep = z.output<typeof savedStep>;

// What was printed lies there: no longer than somebody may want to go on.
const keptMs = 30 * 86_400_000;

/** Makes the store in a folder. */
export function createRunStore(dir: string): RunStore {
  const pathOf = (run: string) => join(dir, `${run}.json`);
  let isPruned = false;
  return {
    save(run, workflow, ended) {
      const saved = workflow.steps.flatMap((step) => {
        const one = ended.get(step.id);
        if (one?.result.status !== 'completed') return [];
        const [stdout, stderr] = [one.outputs.stdout, one.outputs.stderr].map((bytes) =>
          Buffer.from(bytes).toString('base64'),
        );
        return [[step.id, { written: digestOf(step, workflow), result: one.result, stdout, stderr }]];
      });
      const text = JSON.stringify({ run, steps: Object.fromEntries(saved) });
      try {
        makeFolder(dir);
        if (!isPruned) removeOld(dir, keptMs);
        isPruned = true;
        // Whole or not at all, whenever we are killed.
        writeFileSync(`${pathOf(run)}.new`, text, { mode: 0o600 });
        renameSync(`${pathOf(run)}.new`, pathOf(run));
      } catch (cause) {
        throw unwritable(dir, cause);
      }
    },
    load(run, workflow) {
      const saved = read(pathOf(run), run);
      const kept = new Set(
        workflow.steps.filter((step) => saved[step.id]?.written === digestOf(step, workflow)),
      );
      const isKept = (id: string) => [...kept].some((step) => step.id === id);
      // What follows from a step that runs again runs again, too.
      for (let before = -1; before !== kept.size; ) {
        before = kept.size;
        for (const step of kept) if (!step.needs.every(isKept)) kept.delete(step);
      }
      return new Map([...kept].flatMap(({ id }) => toEnded(id, saved[id])));
    },
  };
}

function toEnded(id: string, saved: SavedStep | undefined): [string, EndedStep][] {
  if (saved === undefined) return [];
  const { result, stdout, stderr } = saved;
  const outputs = { stdout: Buffer.from(stdout, 'base64'), stderr: Buffer.from(stderr, 'base64') };
  return [[id, { result, outputs }]];
}

// What is said for the whole workflow is a part of each step.
function digestOf(step: PlannedStep, { cwd, env }: Workflow): string {
  const whole = { cwd, ...step, env: { ...env, ...step.env } };
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex');
}

function unwritable(dir: string, cause: unknown): NacreError {
  const message = `The run cannot be kept in ${dir}: ${(cause as Error).message}.`;
  return new NacreError('resources_unavailable', message, {
    hint: 'Free some space there, or set state_dir to a folder that can be written.',
    cause,
  });
}

function read(path: string, run: string): Readonly<Record<string, SavedStep>> {
  try {
    if (!/^run_[0-9a-f]{12}$/.test(run)) throw new Error('it is no id of a run');
    return savedRun.parse(JSON.parse(readFileSync(path, 'utf8'))).steps;
  } catch (cause) {
    throw new NacreError(
      'invalid_request',
      `There is no run ${run} to resume: ${(cause as Error).message}.`,
      {
        hint: 'The first line that a workflow prints names its run.',
        cause,
      },
    );
  }
}
