import type { ReadQuery } from '../../engine/read-command.ts';
import type { YamlValue } from '../../output/yaml-reply.ts';
import type { AllowedCommands } from '../allowed-run.ts';
import type { ToolContext, ToolReply } from '../define-tool.ts';
import { commandReply } from './command-reply.ts';
import { terminalFailure, withKeys } from './reply.ts';

/**
 * Reads a command after something was done to it. What goes wrong with that does not undo it, so the reply tells how the
 * command is all the same.
 */
export async function readAfter(
  commands: AllowedCommands,
  id: string,
  query: ReadQuery,
  context: ToolContext,
): Promise<ToolReply> {
  try {
    return commandReply(await commands.read(id, query, context));
  } catch (error) {
    const plain = { ...query, cursor: undefined, filter: undefined, waitFor: undefined, waitMs: 0 };
    const reply = commandReply(await commands.read(id, plain, context));
    const {
      error: sentence,
      code,
      hint,
    } = terminalFailure(error).structured as Readonly<Record<string, YamlValue>>;
    return withKeys(reply, (keys) => ({ ...keys, error: sentence, code, hint }), true);
  }
}
