import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { NacreError } from '../contract/failure.ts';
import { makeFolder } from '../support/make-folder.ts';
import { removeOldFiles } from '../support/old-files.ts';
import { readRegularFile } from '../support/regular-file.ts';
import type { EndedStep } from './events.ts';
import { journalBegun, journalClosed, journalEnded, journalRun, readJournal } from './run-journal.ts';
import type { PlannedStep, Workflow } from './schema.ts';

/** Saves runs in a folder: completed steps in `<run>.json`, and the state of each step in `<run>.steps`. */
export interface RunStore {
  /** Starts a run, or continues an earlier one with `resume`; throws if that one cannot be resumed or still runs. */
  open(run: string, workflow: Workflow, options: { readonly resume: boolean }): SavedRun;
}

/** A run that is being saved. */
export interface SavedRun {
  /** Completed steps of the earlier run whose definition, and that of all steps they need, has not changed. */
  readonly completed: ReadonlyMap<string, EndedStep>;
  /** Steps that were interrupted: they may have taken effect, and must not run again unless they are `idempotent`. */
  readonly unknown: ReadonlySet<string>;
  /** Called before a step starts; throws if that cannot be saved. */
  begin(step: PlannedStep): void;
  /** Called with all ended steps when `step` has ended. */
  end(step: PlannedStep, ended: ReadonlyMap<string, EndedStep>): void;
  close(): void;
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
  let isPruned = false;
  return {
    open(run, workflow, { resume }) {
      const paths = { saved: join(dir, `${run}.json`), journal: join(dir, `${run}.steps`) };
      const earlier = resume ? readEarlier(run, workflow, paths) : noEarlier;
      const write = (step: () => void) => {
        try {
          step();
        } catch (cause) {
          throw unwritable(dir, cause);
        }
      };
      write(() => {
        makeFolder(dir);
        if (!isPruned) removeOldFiles(dir, keptMs);
        isPruned = true;
        saveSteps(paths.saved, run, workflow, earlier.completed);
        journalRun(paths.journal);
      });
      return {
        ...earlier,
        begin: (step) => write(() => journalBegun(paths.journal, step.id, digestOf(step, workflow))),
        end(step, ended) {
          const { status, resumed } = ended.get(step.id)?.result ?? {};
          // No step was started, so there is nothing to save.
          if (status === 'unknown' || status === 'skipped' || resumed) return;
          write(() => {
            saveSteps(paths.saved, run, workflow, new Map([...earlier.completed, ...ended]));
            journalEnded(paths.journal, step.id);
          });
        },
        close() {
          try {
            journalClosed(paths.journal);
          } catch {
            // The line is only needed while this process is alive.
          }
        },
      };
    },
  };
}

interface RunPaths {
  readonly saved: string;
  readonly journal: string;
}

const noEarlier: Pick<SavedRun, 'completed' | 'unknown'> = { completed: new Map(), unknown: new Set() };

function readEarlier(run: string, workflow: Workflow, { saved, journal }: RunPaths): typeof noEarlier {
  const completed = chooseCompleted(readSaved(saved, run), workflow);
  const { unknown, workedOnBy } = readJournal(journal);
  if (workedOnBy !== undefined) throw stillRunning(run, workedOnBy);
  const interrupted = workflow.steps.filter(
    (step) => !completed.has(step.id) && unknown.get(step.id) === digestOf(step, workflow),
  );
  return { completed, unknown: new Set(interrupted.map(({ id }) => id)) };
}

function chooseCompleted(
  saved: Readonly<Record<string, SavedStep>>,
  workflow: Workflow,
): ReadonlyMap<string, EndedStep> {
  const kept = new Set(workflow.steps.filter((step) => saved[step.id]?.written === digestOf(step, workflow)));
  const isKept = (id: string) => [...kept].some((step) => step.id === id);
  // A step must run again if one of its `needs` runs again.
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    for (const step of kept) if (!step.needs.every(isKept)) kept.delete(step);
  }
  return new Map([...kept].flatMap(({ id }) => toEnded(id, saved[id])));
}

function saveSteps(
  path: string,
  run: string,
  workflow: Workflow,
  ended: ReadonlyMap<string, EndedStep>,
): void {
  const saved = workflow.steps.flatMap((step) => {
    const endedStep = ended.get(step.id);
    if (endedStep?.result.status !== 'completed') return [];
    const { result, outputs } = endedStep;
    const [stdout, stderr] = [outputs.stdout, outputs.stderr].map((bytes) =>
      Buffer.from(bytes).toString('base64'),
    );
    return [[step.id, { written: digestOf(step, workflow), result, stdout, stderr }]];
  });
  // rename(2) is atomic: a SIGKILL never leaves a partial file.
  rmSync(`${path}.new`, { force: true });
  const text = JSON.stringify({ run, steps: Object.fromEntries(saved) });
  writeFileSync(`${path}.new`, text, { mode: 0o600, flag: 'wx' });
  renameSync(`${path}.new`, path);
}

function toEnded(id: string, saved: SavedStep | undefined): [string, EndedStep][] {
  if (saved === undefined) return [];
  const { result, stdout, stderr } = saved;
  const outputs = { stdout: Buffer.from(stdout, 'base64'), stderr: Buffer.from(stderr, 'base64') };
  return [[id, { result, outputs }]];
}

// `cwd` and `env` of the workflow apply to each step, so they are part of its definition.
// `idempotent` is not: a user adds it to let an interrupted step run again.
function digestOf({ idempotent: _, ...step }: PlannedStep, { cwd, env }: Workflow): string {
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

function stillRunning(run: string, pid: number): NacreError {
  return new NacreError('invalid_request', `Run ${run} is still running, in process ${pid}.`, {
    hint: 'Wait until it ends, or stop it; then resume it.',
  });
}

function readSaved(path: string, run: string): Readonly<Record<string, SavedStep>> {
  try {
    if (!/^run_[0-9a-f]{12}$/.test(run)) throw new Error('it is not the id of a run');
    return savedRun.parse(JSON.parse(readRegularFile(path))).steps;
  } catch (cause) {
    throw new NacreError('invalid_request', `Run ${run} cannot be resumed: ${(cause as Error).message}.`, {
      hint: 'The first event of a workflow (run_started) has the id of its run.',
      cause,
    });
  }
}
