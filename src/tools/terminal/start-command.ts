import { z } from 'zod';
import { commandText, cwdText, envMap } from '../../contract/request.ts';
import { defineTool } from '../common/define-tool.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { terminalSize, toReadQuery, waiting } from './read-options.ts';
import { commandOutput, readAfter, terminalFailure } from './reply.ts';

const input = z.strictObject({
  command: commandText.describe('Bash command line'),
  cwd: cwdText.optional(),
  env: envMap.optional(),
  name: z
    .string()
    .regex(
      /^[A-Za-z][\w.-]{0,62}$/,
      'must have at most 63 letters, digits, _ . or -, and start with a letter',
    )
    .optional()
    .describe('To use in place of the id'),
  pty: z.boolean().default(false).describe('Run it in a terminal'),
  cols: terminalSize.cols.default(80),
  rows: terminalSize.rows.default(24),
  ...waiting,
});

/** Input of `start_command`. */
export type StartCommandInput = z.input<typeof input>;

const description = `Starts a server, watcher, REPL or any long or interactive command and returns its command_id and output so far.
Returns when it ends or waits for input, when output matches wait_for or stops for idle_ms, or after wait_ms. Continue with read_output, write_input, stop_command.
Example: {"command":"npm run dev","name":"web","wait_for":"ready|Error","wait_ms":30000}`;

/** `start_command`: starts a command that keeps running after the call. */
export function startCommand(commands: AllowedCommands, defaults: { readonly maxOutputChars: number }): Tool {
  return defineTool({
    name: 'start_command',
    title: 'Start a command',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    choosesMachine: true,
    input,
    output: commandOutput,
    async run({ command, cwd, env, name, pty, cols, rows, ...options }, context) {
      const terminal = pty ? { cols, rows } : undefined;
      const request = { command: { kind: 'shell', script: command }, cwd, env, name, terminal } as const;
      const { id } = await commands.start({ ...request, stdin: 'open', timeoutMs: null }, context);
      return readAfter(commands, id, toReadQuery(options, defaults, context), context);
    },
    fail: terminalFailure,
  });
}
