import { z } from 'zod';
import { type Command, showCommand } from '../../contract/command.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import { defineTool } from '../common/define-tool.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { terminalFailure, toReply, withoutEmpty } from './reply.ts';

const input = z.strictObject({
  status: z.enum(['all', 'running', 'ended']).default('all'),
});

/** Input of `list_commands`. */
export type ListCommandsInput = z.input<typeof input>;

const output = z.looseObject({
  commands: z
    .array(z.looseObject({ command_id: z.string(), command: z.string(), status: z.string() }))
    .optional(),
});

/** `list_commands`: lists the started commands. */
export function listCommands(commands: AllowedCommands): Tool {
  return defineTool({
    name: 'list_commands',
    title: 'List commands',
    description:
      'Lists your started commands, also ended ones that can still be read: age, CPU time, memory, ports, unread bytes. Example: {"status":"running"}',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    output,
    async run({ status }, context) {
      const all = await commands.list(context);
      const wanted = all.filter(
        ({ state }) => status === 'all' || (status === 'ended') === (state.end !== null),
      );
      return toReply({ commands: wanted.map(toEntry) }, false);
    },
    fail: terminalFailure,
  });
}

function toEntry({ id, name, command, cwd, state, look, unreadBytes }: ListedCommand) {
  const { cpuMs, peakMemoryBytes } = state.resources ?? {};
  return withoutEmpty({
    command_id: id,
    name,
    command: toText(command),
    cwd,
    status: state.status,
    exit_code: state.end?.exitCode,
    age_ms: Math.max(0, Date.now() - Date.parse(state.startedAt)),
    cpu_ms: cpuMs ?? undefined,
    memory_bytes: peakMemoryBytes ?? undefined,
    ports: look.listening.length > 0 ? look.listening : undefined,
    awaiting_input: look.awaitingInput || undefined,
    unread_bytes: unreadBytes || undefined,
  });
}

const maxCommandChars = 200;

function toText(command: Command): string {
  const text = showCommand(command);
  return text.length > maxCommandChars ? `${text.slice(0, maxCommandChars).toWellFormed()}…` : text;
}
