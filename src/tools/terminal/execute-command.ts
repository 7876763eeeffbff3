import { z } from 'zod';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, cwdText, envMap, inputText } from '../../contract/request.ts';
import type { AllowedCommands, AllowedRun } from '../allowed-run.ts';
import { defineTool, type Tool, type ToolReply } from '../define-tool.ts';
import { limitHints } from '../limit-hints.ts';
import { commandReply } from './command-reply.ts';
import { toReadQuery } from './read-options.ts';
import { terminalFailure, terminalReply, withKeys } from './reply.ts';
import { tightening, toTightening } from './tightening.ts';

const input = z.strictObject({
  command: commandText.describe('Bash command line'),
  input: inputText.optional().describe('Text for stdin; without it stdin is empty'),
  cwd: cwdText.optional().describe("Default: the server's own"),
  env: envMap.optional(),
  timeout_ms: z.int().min(1).max(600_000).default(30_000),
  on_timeout: z
    .enum(['kill', 'background'])
    .default('kill')
    .describe('background: it goes on as with start_command'),
  max_output_chars: z.int().min(1).max(200_000).optional(),
  ...tightening,
});

/** What `execute_command` takes. */
export type ExecuteCommandInput = z.input<typeof input>;

const output = z.looseObject({
  exit_code: z.number().nullable().describe('null: not run, or timed out'),
  stdout: z.string(),
  stderr: z.string(),
  signal: z.string().optional(),
  truncated: z.boolean().optional(),
  left_running: z.array(z.string()).optional(),
  withheld_env: z.array(z.string()).optional(),
  command_id: z.string().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
  hint: z.string().optional(),
});

const description = `Runs a bash command and returns its exit code, stdout and stderr as YAML.
For short, non-interactive commands: nobody can answer a prompt, and background processes end with the command. For interactive or long-running ones use start_command.
Long output keeps its beginning and end.
Example: {"command":"git status --short","cwd":"app"}`;

/** The tool of 000: one command, one answer. */
export function executeCommand(
  { run, commands }: { run: AllowedRun; commands: AllowedCommands },
  defaults: { maxOutputChars: number },
): Tool {
  return defineTool({
    name: 'execute_command',
    title: 'Execute a command',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    async run(
      { command, input: text, cwd, env, timeout_ms, on_timeout, max_output_chars, ...asked },
      context,
    ) {
      const maxOutputChars = max_output_chars ?? defaults.maxOutputChars;
      const place = { command: { kind: 'shell', script: command }, input: text, cwd, env } as const;
      const request = { ...place, timeoutMs: timeout_ms, maxOutputChars, ...toTightening(asked) };
      const listening = { ...context, howToGetRest };
      if (on_timeout === 'kill') return toReply(await run(request, listening), timeout_ms);
      const result = await commands.runOrGoOn(request, listening);
      if (result.kind === 'ended') return toReply(result.outcome, timeout_ms);
      const query = toReadQuery({ wait_ms: 0 }, { maxOutputChars });
      return goesOn(commandReply(await commands.read(result.id, query, context)), timeout_ms);
    },
    fail: terminalFailure,
  });
}

const howToGetRest =
  'Ask for more with max_output_chars (up to 200000), use read_output with the command_id, or narrow it with head, tail or grep.';

function toReply(outcome: Outcome, timeoutMs: number): ToolReply {
  switch (outcome.cause) {
    case 'exit':
      return terminalReply(outcome, outcome.leftRunning.length > 0 ? { hint: leftRunningHint } : {});
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

const leftRunningHint =
  'What was left running was ended with the command; start servers and other long-running programs with start_command.';

// The same first keys as every other answer of this tool.
function goesOn(reply: ToolReply, timeoutMs: number): ToolReply {
  const hint = `It did not end within ${timeoutMs} ms and goes on: use read_output, write_input and stop_command.`;
  return withKeys(reply, ({ stdout, stderr, ...rest }) => ({
    exit_code: null,
    stdout,
    stderr,
    ...rest,
    hint,
  }));
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
