import type { Stream } from '../contract/job.ts';

/** What became of one step. */
export interface StepResult {
  readonly id: string;
  /** `refused` by policy, `skipped` for one that was never started, `error` for what kept it from running. */
  readonly status: 'completed' | 'failed' | 'timeout' | 'killed' | 'refused' | 'error' | 'skipped';
  /** The id of its command in the audit and in log lines. */
  readonly command_id?: string | undefined;
  readonly exit_code?: number | undefined;
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  readonly attempts: number;
  readonly duration_ms: number;
  /** Why it was skipped, refused or failed, where there is more to say than its status. */
  readonly reason?: string | undefined;
  /** True for one that an earlier run had completed. */
  readonly resumed?: boolean | undefined;
}

/** What became of a whole workflow; it lists every step. */
export interface WorkflowResult {
  /** The id by which it can be resumed. */
  readonly run: string;
  readonly name?: string | undefined;
  readonly status: 'completed' | 'failed' | 'aborted';
  readonly duration_ms: number;
  readonly steps: readonly StepResult[];
}

/** What happens while a workflow runs. */
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
