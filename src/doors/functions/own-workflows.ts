import { z } from 'zod';
import { createId } from '../../support/create-id.ts';
import { receive } from '../../tools/receive.ts';
import type { WorkflowEvent, WorkflowResult } from '../../workflows/events.ts';
import { takeWorkflow } from '../../workflows/read-workflow.ts';
import { createRunStore } from '../../workflows/run-store.ts';
import { runWorkflow as runPlanned } from '../../workflows/run-workflow.ts';
import type { WorkflowStep } from '../../workflows/schema.ts';
import { createWorkflowMeans, type WorkflowSupply } from '../workflow-means.ts';
import { firstNacre } from './first-nacre.ts';

/** How a program runs a workflow. */
export interface WorkflowOptions {
  readonly name?: string | undefined;
  /** Ends the running steps with their trees and skips the rest. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: WorkflowEvent) => void) | undefined;
  /** Steps that may run at one time: 4 unless another number is given. */
  readonly parallel?: number | undefined;
  /** The id of an earlier run, whose completed steps are not run again. */
  readonly resume?: string | undefined;
}

/** Workflows that a program runs. */
export interface OwnWorkflows {
  /** Runs steps in their order; rejects for steps that are none, and tells what fails in the result. */
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

/** Makes this call for one nacre. */
export function ownWorkflows({
  dir,
  ...supply
}: Omit<WorkflowSupply, 'door'> & { readonly dir: string }): OwnWorkflows {
  const means = createWorkflowMeans({ ...supply, door: 'functions' });
  const store = createRunStore(dir);
  return {
    async runWorkflow(steps, options = {}) {
      const { name, parallel, resume, ...listening } = receive('runWorkflow', optionsSchema, options);
      const workflow = takeWorkflow({
        steps,
        ...(name !== undefined && { name }),
        ...(parallel !== undefined && { parallel }),
      });
      const run = resume ?? createId('run');
      return runPlanned(workflow, means, {
        ...listening,
        run,
        done: resume === undefined ? undefined : store.load(resume, workflow),
        onProgress: (ended) => store.save(run, workflow, ended),
      });
    },
  };
}

/** Runs a workflow on the first nacre of this process, or on one with the settings that hold by default. */
export function runWorkflow(
  steps: readonly WorkflowStep[],
  options?: WorkflowOptions,
): Promise<WorkflowResult> {
  return firstNacre().runWorkflow(steps, options);
}
