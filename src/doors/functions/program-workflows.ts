import { z } from 'zod';
import { createId } from '../../support/ids.ts';
import { receive } from '../../tools/common/define-tool.ts';
import type { WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { executeWorkflow } from '../../workflows/execute-workflow.ts';
import { parseWorkflow } from '../../workflows/read-workflow.ts';
import { createRunStore } from '../../workflows/run-store.ts';
import type { WorkflowStep } from '../../workflows/schema.ts';
import { createWorkflowDeps, type WorkflowEngineDeps } from '../workflow-deps.ts';

/** Options of `runWorkflow`. */
export interface WorkflowOptions {
  readonly name?: string | undefined;
  /** Kills the process trees of running steps and skips the rest. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: WorkflowEvent) => void) | undefined;
  /** Maximum number of steps that run at the same time; 4 by default. */
  readonly parallel?: number | undefined;
  /** `run` of an earlier result, whose completed steps are not run again. */
  readonly resume?: string | undefined;
}

/** Workflows that a program runs. */
export interface ProgramWorkflows {
  /** Runs the steps in order; rejects for invalid steps, and reports failed ones in `WorkflowResult.steps`. */
  runWorkflow(steps: readonly WorkflowStep[], options?: WorkflowOptions): Promise<WorkflowResult>;
}

const optionsSchema = z.strictObject({
  name: z.unknown().optional(),
  parallel: z.unknown().optional(),
  resume: z.string().optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
  onEvent: z
    .custom<WorkflowOptions['onEvent']>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});

/** Creates the workflow call of one nacre instance; saved runs are in `dir`. */
export function createProgramWorkflows({
  dir,
  ...deps
}: Omit<WorkflowEngineDeps, 'door'> & { readonly dir: string }): ProgramWorkflows {
  const workflowDeps = createWorkflowDeps({ ...deps, door: 'functions' });
  const store = createRunStore(dir);
  return {
    async runWorkflow(steps, options = {}) {
      const { name, parallel, resume, ...listeners } = receive('runWorkflow', optionsSchema, options);
      const workflow = parseWorkflow({
        steps,
        ...(name !== undefined && { name }),
        ...(parallel !== undefined && { parallel }),
      });
      // Rejects for a closed instance, which `executeWorkflow` would report as a failure of the first step.
      await deps.engine();
      const run = resume ?? createId('run');
      const saved = store.open(run, workflow, { resume: resume !== undefined });
      try {
        return await executeWorkflow(workflow, workflowDeps, { ...listeners, run, saved });
      } finally {
        saved.close();
      }
    },
  };
}
