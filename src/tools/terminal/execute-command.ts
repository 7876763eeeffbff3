import { z } from 'zod';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, cwdText, envMap, inputText } from '../../contract/request.ts';
import type { AllowedRun } from '../allowed-run.ts';
import { defineTool, type Tool, type ToolReply } from '../define-tool.ts';
import { limitHints } from '../limit-hints.ts';
import { terminalFailure, terminalReply } from './reply.ts';
import { tightening, toTightening } from './tightening.ts';

const input = z.strictObject({
  command: commandText.describe('Bash command line'),
  input: inputText.optional().describe('Written to stdin, which is then closed. Without it stdin is empty'),
  cwd: cwdText.optional().describe("Directory, absolute or relative to the server's own (the default)"),
  env: envMap.optional().describe('Variables to add'),
  timeout_ms: z.int().min(1).max(600_000).default(30_000).describe('After this the command is ended'),
  on_timeout: z.enum(['kill']).default('kill').describe('What happens then'),
  max_output_chars: z
    .int()
    .min(1)
    .max(200_000)
    .optional()
    .describe('Most characters of stdout and stderr together'),
  ...tightening,
});

/** What `execute_command` takes. */
export type ExecuteCommandInput = z.input<typeof input>;

const output = z.object({
  exit_code: z.int().min(0).max(255).nullable().describe('null after a timeout, and when nothing was run'),
  stdout: z.string(),
  stderr: z.string(),
  signal: z.string().optional(),
  truncated: z.boolean().optional(),
  left_running: z
    .array(z.string())
    .optional()
    .describe('Background processes that were ended with the command'),
  still_running: z.array(z.string()).optional().describe('Processes that could not be ended'),
  denied_hosts: z
    .array(z.string())
    .optional()
    .describe('Hosts that the command asked for and the settings do not allow'),
  withheld_env: z
    .array(z.string())
    .optional()
    .describe('Variables of the server that the command did not get'),
  error: z.string().optional(),
  code: z.string().optional(),
  hint: z.string().optional(),
  warnings: z.array(z.string()).optional(),
});

const description = `Runs a bash command and returns its exit code, stdout and stderr as YAML.
For short, non-interactive commands: nobody can answer a prompt, and background processes end with the command. For interactive or long-running ones use start_command.
Long output keeps its beginning and end.`;

/** The tool of 000: one command, one answer. */
export function executeCommand(run: AllowedRun, defaults: { maxOutputChars: number }): Tool {
  return defineTool({
    name: 'execute_command',
    title: 'Execute a command',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    async run({ command, input: text, cwd, env, timeout_ms, max_output_chars, ...asked }, context) {
      const outcome = await run(
        {
          command: { kind: 'shell', script: command },
          input: text,
          cwd,
          env,
          timeoutMs: timeout_ms,
          maxOutputChars: max_output_chars ?? defaults.maxOutputChars,
          ...toTightening(asked),
        },
        { ...context, howToGetRest },
      );
      return toReply(outcome, timeout_ms);
    },
    fail: terminalFailure,
  });
}

const howToGetRest =
  'Ask for more with max_output_chars (up to 200000), or narrow it with head, tail, grep or a file.';

function toReply(outcome: Outcome, timeoutMs: number): ToolReply {
  switch (outcome.cause) {
    case 'exit':
      return terminalReply(outcome, {});
    case 'timeout':
      return terminalReply({ ...outcome, exitCode: null }, timedOut(timeoutMs));
    case 'stopped':
      return terminalReply(outcome, { error: 'The command was ended before it finished.' });
    case 'output_limit':
    case 'spool_failed':
      return terminalReply(outcome, tooMuch(outcome));
    case 'oom':
    case 'cpu':
    case 'processes':
    case 'file_size':
      return terminalReply(outcome, overLimit(outcome.cause, outcome.detail));
  }
}

function overLimit(cause: keyof typeof limitHints, detail: string | null) {
  return { error: `The command was ended by a limit. ${detail ?? ''}`.trim(), hint: limitHints[cause] };
}

function tooMuch({ detail }: Outcome) {
  return {
    error: `The command was ended. ${detail ?? 'Its output could not be kept.'}`,
    hint: limitHints.output_limit,
  };
}

function timedOut(timeoutMs: number) {
  return {
    error: `The command timed out after ${timeoutMs} ms and was ended, with everything it had started.`,
    hint: 'It may be waiting for input: give it in `input`, or use start_command for interactive or long-running commands. A larger timeout_ms (up to 600000) also helps.',
  };
}
