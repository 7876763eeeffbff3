import { z } from 'zod';
import { commandText, cwdText, envMap, inputText } from '../contract/request.ts';
import { toNumber } from '../settings/units.ts';

const stepId = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    'must start with a letter or _ and have only letters, digits, _ and -',
  );

const durationMs = (min: number, max: number) =>
  z
    .union([z.number(), z.string()], 'must be a number of seconds, or text such as 500ms, 30s or 5min')
    .transform((value, context) => {
      const ms = typeof value === 'number' ? value * 1_000 : toNumber(value, 'ms');
      if (ms !== undefined && Number.isInteger(ms) && ms >= min && ms <= max) return ms;
      context.addIssue(
        `must be a number of seconds, or text such as 500ms, 30s or 5min, at most ${max / 1_000} s`,
      );
      return z.NEVER;
    });

const source = z.union(
  [
    stepId.transform((step) => ({ step, stream: 'stdout' as const })),
    z.strictObject({ step: stepId, stream: z.enum(['stdout', 'stderr']).default('stdout') }),
  ],
  'must be the id of a step, or an object with step and stream',
);

const condition = z
  .strictObject({
    step: stepId,
    outcome: z.enum(['completed', 'failed', 'skipped']).optional(),
    exit_code: z.int().min(0).max(255).optional(),
    stdout_contains: z.string().min(1).optional(),
  })
  .refine(
    ({ outcome, exit_code, stdout_contains }) => (outcome ?? exit_code ?? stdout_contains) !== undefined,
    'must have outcome, exit_code or stdout_contains',
  );

const retry = z.union(
  [
    z
      .int()
      .min(1)
      .max(20)
      .transform((times) => ({ times, delay: 1_000, factor: 2 })),
    z.strictObject({
      times: z.int().min(1).max(20),
      delay: durationMs(0, 3_600_000).default(1_000),
      factor: z.number().min(1).max(10).default(2),
    }),
  ],
  'must be a number of retries (1 to 20), or an object with times, delay and factor',
);

// The engine refuses a name that the settings do not have, and lists the others.
const machineName = z.string().min(1).max(32);

/** Schema of a step. */
export const stepSchema = z.strictObject({
  id: stepId.optional(),
  command: z
    .union([commandText, z.array(commandText).min(1)], 'must be bash text, or a program and its arguments')
    .optional(),
  tool: z.string().min(1).optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  on: machineName.optional(),
  cwd: cwdText.optional(),
  env: envMap.optional(),
  env_from: z.record(envMap.keyType, source).optional(),
  input: inputText.optional(),
  input_from: source.optional(),
  needs: z.array(stepId).max(1_000).optional(),
  when: z
    .union(
      [z.enum(['success', 'failure', 'always']), condition],
      'must be success, failure or always, or an object with step and outcome, exit_code or stdout_contains',
    )
    .default('success'),
  timeout: durationMs(1, 86_400_000).optional(),
  retry: retry.optional(),
  continue_on_error: z.boolean().default(false),
  idempotent: z.boolean().default(false),
});

/** Schema of a workflow. */
export const workflowSchema = z.strictObject({
  name: z.string().min(1).max(100).optional(),
  parallel: z.int().min(1).max(64).default(4),
  on: machineName.optional(),
  cwd: cwdText.optional(),
  env: envMap.optional(),
  steps: z.array(stepSchema).min(1, 'must have at least one step').max(1_000),
});

/** A step as a program passes it to `runWorkflow`. */
export type WorkflowStep = z.input<typeof stepSchema>;

/** A validated step with its `id`, and in `needs` all steps it waits for. */
export interface PlannedStep extends Omit<z.output<typeof stepSchema>, 'id' | 'needs'> {
  readonly id: string;
  readonly needs: readonly string[];
}

/** A validated workflow. */
export interface Workflow extends Omit<z.output<typeof workflowSchema>, 'steps'> {
  readonly steps: readonly PlannedStep[];
}
