import { z } from 'zod';
import { changesModes } from '../../contract/changes.ts';
import { sandboxNames } from '../../contract/isolation.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { type CommandRequest, commandText, cwdText, envMap, inputText } from '../../contract/request.ts';
import { toYamlReply } from '../../output/yaml-reply.ts';
import { nameTools } from '../../support/name-tools.ts';
import { defineTool } from '../common/define-tool.ts';
import { describeEnd, type LimitCause, limitHints } from '../common/describe-outcome.ts';
import { limitOutput, once, toRunLimits } from '../common/fit-reply.ts';
import type { TimeLimits } from '../common/time-limits.ts';
import type { AllowedCommands, AllowedRun, Tool, ToolContext, ToolReply } from '../common/tool.ts';
import { toReadQuery } from './read-options.ts';
import { commandReply, outcomeReply, terminalFailure, withKeys } from './reply.ts';

// The minimum values with which bash itself still starts.
const minLimits = {
  memory_bytes: 16_777_216,
  tree_memory_bytes: 16_777_216,
  max_processes: 4,
  cpu_seconds: 1,
  file_bytes: 1_024,
} as const;
const limitNames = Object.keys(minLimits) as (keyof typeof minLimits)[];

// The JSON Schema of a map is half as long as that of an object with five optional fields.
const limitsMap = z
  .partialRecord(z.enum(limitNames), z.int().min(1).max(1_125_899_906_842_624))
  .superRefine((limits, context) => {
    for (const name of limitNames) {
      if ((limits[name] ?? minLimits[name]) < minLimits[name]) {
        context.addIssue({ code: 'custom', path: [name], message: `must be at least ${minLimits[name]}` });
      }
    }
  });

const inputWithin = ({ defaultMs, maxMs }: TimeLimits) =>
  z.strictObject({ ...fields, timeout_ms: z.int().min(1).max(maxMs).default(defaultMs) });

const fields = {
  command: commandText.describe('Bash command line'),
  input: inputText.optional().describe('Text for stdin'),
  cwd: cwdText.optional().describe("Default: the server's cwd"),
  env: envMap.optional(),
  on_timeout: z
    .enum(['kill', 'background'])
    .default('kill')
    .describe('background: keeps running, as with start_command'),
  max_output_chars: z.int().min(1).max(200_000).optional(),
  sandbox: z
    .enum(sandboxNames)
    .optional()
    .describe(
      'Only stricter than the settings. workspace: writes only below cwd, no network; strict: also hides ~',
    ),
  changes: z.enum(changesModes).optional().describe('track: can be undone; hold: applied later'),
  limits: limitsMap
    .optional()
    .describe(
      'memory_bytes, tree_memory_bytes (all processes), max_processes, cpu_seconds, file_bytes; only lower than the settings',
    ),
};

/** Input of `execute_command`. */
export type ExecuteCommandInput = z.input<ReturnType<typeof inputWithin>>;

type Args = z.output<ReturnType<typeof inputWithin>>;

const output = z.looseObject({
  exit_code: z.number().nullable().describe('null: not run, or timed out'),
  truncated: z.boolean().optional(),
  command_id: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
  hint: z.string().optional(),
});

const description = `Runs a shell command and returns exit_code, stdout and stderr. Use it instead of a built-in shell: it follows the user's rules and leaves nothing running.
For short-lived, non-interactive commands: prompts cannot be answered, and background processes end with the command. For interactive or long-running ones use start_command.
Example: {"command":"git status --short","cwd":"app"}`;

/** `execute_command`: runs one command and returns its outcome. */
export function executeCommand(
  { run, commands }: { readonly run: AllowedRun; readonly commands: AllowedCommands },
  defaults: TimeLimits & { readonly maxOutputChars: number },
): Tool {
  const { maxMs } = defaults;
  return defineTool({
    name: 'execute_command',
    title: 'Execute a command',
    alwaysLoad: true,
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    choosesMachine: true,
    input: inputWithin(defaults),
    output,
    async run(args, context) {
      const { timeout_ms, on_timeout, max_output_chars } = args;
      const limits = toRunLimits(
        limitOutput(context, { defaultChars: defaults.maxOutputChars, askedChars: max_output_chars, write }),
      );
      const request = { ...toRequest(args), ...limits.request };
      const runContext = { ...context, ...limits.context, howToGetRest: '' };
      const reply = (outcome: Outcome) => toReply(outcome, { timeoutMs: timeout_ms, maxMs }, context);
      if (on_timeout === 'kill') return reply(await run(request, runContext));
      const result = await commands.runOrDetach(request, runContext);
      if (result.kind === 'ended') return reply(result.outcome);
      const query = toReadQuery({ wait_ms: 0, max_output_chars }, defaults, context);
      const reading = await commands.read(result.id, query, context);
      return stillRunning(commandReply(reading), timeout_ms, context);
    },
    fail: terminalFailure,
  });
}

const write = (stdout: string, stderr: string) => toYamlReply({ stdout, stderr });

function toRequest(args: Args): Omit<CommandRequest, 'maxOutputChars'> {
  const { command, input: text, cwd, env, timeout_ms, sandbox, changes, limits } = args;
  return {
    command: { kind: 'shell', script: command },
    input: text,
    cwd,
    env,
    timeoutMs: timeout_ms,
    sandbox,
    changes,
    ...(limits && {
      limits: {
        memoryBytes: limits.memory_bytes,
        treeMemoryBytes: limits.tree_memory_bytes,
        maxProcesses: limits.max_processes,
        cpuSeconds: limits.cpu_seconds,
        fileBytes: limits.file_bytes,
      },
    }),
  };
}

function toReply(
  outcome: Outcome,
  { timeoutMs, maxMs }: { readonly timeoutMs: number; readonly maxMs: number },
  context: ToolContext,
): ToolReply {
  const { cause, leftRunning } = outcome;
  const error = describeEnd(outcome, `${timeoutMs} ms`);
  if (error === undefined) {
    const hint = leftRunning.length > 0 ? once(context, leftHint) : undefined;
    return outcomeReply(outcome, { hint }, context);
  }
  if (cause === 'timeout') {
    const problem = {
      error: `${error} and was killed with everything it had started.`,
      hint: once(context, timeoutHint(maxMs)) ?? nameTools(context.toolPrefix, shortTimeoutHint),
    };
    return outcomeReply({ ...outcome, exitCode: null }, problem, context);
  }
  const hint = isLimit(cause) ? once(context, limitHints[cause]) : undefined;
  return outcomeReply(outcome, { error, hint }, context);
}

function isLimit(cause: Outcome['cause']): cause is LimitCause {
  return cause in limitHints;
}

const leftHint =
  'Processes that were left running were killed with the command; start servers and other long-running programs with start_command.';

const timeoutHint = (maxMs: number) =>
  `It may be waiting for input: pass it in \`input\`, or use start_command for interactive or long-running commands. A larger timeout_ms (up to ${maxMs}) also helps.`;

const shortTimeoutHint = 'It may be waiting for input: use start_command.';

// Puts exit_code first, as in every other reply of this tool.
function stillRunning(reply: ToolReply, timeoutMs: number, { toolPrefix }: ToolContext): ToolReply {
  const sentence = `The command is still running after ${timeoutMs} ms: use read_output, write_input and stop_command.`;
  const hint = nameTools(toolPrefix, sentence);
  return withKeys(reply, (keys) => ({ exit_code: null, ...keys, hint }));
}
