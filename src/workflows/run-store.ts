import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { NacreError } from '../contract/failure.ts';
import { makeFolder } from '../support/make-folder.ts';
import { removeOldFiles } from '../support/old-files.ts';
import type { EndedStep } from './events.ts';
import type { PlannedStep, Workflow } from './schema.ts';

/** Saves completed steps as `<run>.json`, so that `resume` can skip them. */
export interface RunStore {
  save(run: string, workflow: Workflow, ended: ReadonlyMap<string, EndedStep>): void;
  /** Returns the completed steps whose definition, and that of all steps they need, has not changed. */
  load(run: string, workflow: Workflow): ReadonlyMap<string, EndedStep>;
}

const savedStep = z.object({
  /** SHA-256 of the step's definition. */
  written: z.string(),
  result: z.custom<EndedStep['result']>((value) => typeof value === 'object' && value !== null),
  stdout: z.string(),
  stderr: z.string(),
});
const savedRun = z.object({ steps: z.record(z.string(), savedStep) });
type SavedStep = z.output<typeof savedStep>;

// A saved run contains output of commands, so `removeOldFiles` deletes it after 30 days.
const keptMs = 30 * 86_400_000;

/** Creates a store in a folder. */
export function createRunStore(dir: string): RunStore {
  const pathOf = (run: string) => join(dir, `${run}.json`);
  let isPruned = false;
  return {
    save(run, workflow, ended) {
      const saved = workflow.steps.flatMap((step) => {
        const endedStep = ended.get(step.id);
        if (endedStep?.result.status !== 'completed') return [];
        const { result, outputs } = endedStep;
        const [stdout, stderr] = [outputs.stdout, outputs.stderr].map((bytes) =>
          Buffer.from(bytes).toString('base64'),
        );
        return [[step.id, { written: digestOf(step, workflow), result, stdout, stderr }]];
      });
      const text = JSON.stringify({ run, steps: Object.fromEntries(saved) });
      try {
        makeFolder(dir);
        if (!isPruned) removeOldFiles(dir, keptMs);
        isPruned = true;
        // rename(2) is atomic: a SIGKILL never leaves a partial file.
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
      // A step must run again if one of its `needs` runs again.
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

// `cwd` and `env` of the workflow apply to each step, so they are part of its definition.
function digestOf(step: PlannedStep, { cwd, env }: Workflow): string {
  const whole = { cwd, ...step, env: { ...env, ...step.env } };
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex');
}

function unwritable(dir: string, cause: unknown): NacreError {
  const message = `The run cannot be saved in ${dir}: ${(cause as Error).message}.`;
  return new NacreError('resources_unavailable', message, {
    hint: 'Free some space there, or set state_dir to a writable folder.',
    cause,
  });
}

function read(path: string, run: string): Readonly<Record<string, SavedStep>> {
  try {
    if (!/^run_[0-9a-f]{12}$/.test(run)) throw new Error('it is not the id of a run');
    return savedRun.parse(JSON.parse(readFileSync(path, 'utf8'))).steps;
  } catch (cause) {
    throw new NacreError('invalid_request', `Run ${run} cannot be resumed: ${(cause as Error).message}.`, {
      hint: 'The first event of a workflow (run_started) has the id of its run.',
      cause,
    });
  }
}
