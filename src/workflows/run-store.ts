import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { makeFolder } from '../support/make-folder.ts';
import type { EndedStep } from './run-step.ts';
import type { Workflow } from './schema.ts';

/** Keeps what runs have completed, so that they can be resumed. */
export interface RunStore {
  save(run: string, workflow: Workflow, ended: ReadonlyMap<string, EndedStep>): void;
  /** The steps that the run has completed and that are written as they were, with all that they need. */
  load(run: string, workflow: Workflow): ReadonlyMap<string, EndedStep>;
}

interface SavedStep {
  readonly written: string;
  readonly result: EndedStep['result'];
  readonly stdout: string;
  readonly stderr: string;
}

/** Makes the store in a folder. */
export function createRunStore(dir: string): RunStore {
  const pathOf = (run: string) => join(dir, `${run}.json`);
  return {
    save(run, workflow, ended) {
      makeFolder(dir);
      const saved = workflow.steps.flatMap((step) => {
        const one = ended.get(step.id);
        if (one?.result.status !== 'completed') return [];
        const [stdout, stderr] = [one.outputs.stdout, one.outputs.stderr].map((bytes) =>
          Buffer.from(bytes).toString('base64'),
        );
        return [[step.id, { written: digestOf(step), result: one.result, stdout, stderr }]];
      });
      const text = JSON.stringify({ run, steps: Object.fromEntries(saved) });
      // Whole or not at all, whenever we are killed.
      writeFileSync(`${pathOf(run)}.new`, text, { mode: 0o600 });
      renameSync(`${pathOf(run)}.new`, pathOf(run));
    },
    load(run, workflow) {
      const saved = read(pathOf(run), run);
      const kept = new Set(workflow.steps.filter((step) => saved[step.id]?.written === digestOf(step)));
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

function digestOf(step: object): string {
  return createHash('sha256').update(JSON.stringify(step)).digest('hex');
}

function read(path: string, run: string): Readonly<Record<string, SavedStep>> {
  try {
    if (!/^run_[0-9a-f]{12}$/.test(run)) throw new Error('it is no id of a run');
    return (JSON.parse(readFileSync(path, 'utf8')) as { steps: Record<string, SavedStep> }).steps;
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
