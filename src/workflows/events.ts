import type { Stream } from '../contract/job.ts';

/** Result of one step. */
export interface StepResult {
  readonly id: string;
  /**
   * `refused`: denied by policy; `skipped`: never started; `error`: could not run; `unknown`: interrupted in an earlier run,
   * and not run again.
   */
  readonly status:
    | 'completed'
    | 'failed'
    | 'timeout'
    | 'killed'
    | 'lost'
    | 'refused'
    | 'error'
    | 'skipped'
    | 'unknown';
  /** The `id` of its command in the audit log and in log lines. */
  readonly command_id?: string | undefined;
  readonly exit_code?: number | undefined;
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  readonly attempts: number;
  readonly duration_ms: number;
  /** Why it was skipped, refused or failed, in more detail than `status`. */
  readonly reason?: string | undefined;
  /** True if an earlier run completed it and `resume` reused the result. */
  readonly resumed?: boolean | undefined;
}

/** A step that has ended, with the whole output for `input_from` and `env_from` of later steps. */
export interface EndedStep {
  readonly result: StepResult;
  readonly outputs: Readonly<Record<Stream, Uint8Array>>;
}

/** Result of a workflow; it lists every step. */
export interface WorkflowResult {
  /** Id to pass as `resume` or `--resume`. */
  readonly run: string;
  readonly name?: string | undefined;
  readonly status: 'completed' | 'failed' | 'aborted';
  /** Why it was aborted: the reason of the `AbortSignal`, or the text of the abort file. */
  readonly reason?: string | undefined;
  readonly duration_ms: number;
  readonly steps: readonly StepResult[];
}

/** An event of a running workflow, as `onEvent` receives it. */
export type WorkflowEvent = { readonly run: string; readonly time: string } & (
  | { readonly type: 'run_started'; readonly name?: string | undefined; readonly steps: readonly string[] }
  | { readonly type: 'step_started'; readonly step: string; readonly attempt: number }
  | { readonly type: 'step_output'; readonly step: string; readonly stream: Stream; readonly text: string }
  | {
      readonly type: 'step_retry';
      readonly step: string;
      readonly attempt: number;
      readonly delay_ms: number;
    }
  | { readonly type: 'step_finished'; readonly step: string; readonly result: StepResult }
  | { readonly type: 'run_finished'; readonly result: WorkflowResult }
);
