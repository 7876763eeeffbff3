import { z } from 'zod';
import type { Reading } from '../../engine/read-command.ts';
import type { ToolReply } from '../define-tool.ts';
import { names, nonEmpty, toReply } from './reply.ts';

/** What a command has come to and what it printed, as data; what is rarely said is not listed, to save room. */
export const commandOutput = z.looseObject({
  command_id: z.string().optional(),
  status: z.string().optional(),
  exit_code: z.number().nullable().optional(),
  reason: z.string().optional().describe('Why it returned'),
  stdout: z.string(),
  stderr: z.string(),
  cursor: z.number().optional(),
  error: z.string().optional(),
});

/** What was read of a command, in the words of the terminal tools. */
export function commandReply(reading: Reading): ToolReply {
  const { id, name, state, news, prompt, stdout, stderr, next, leftOutFrom, isCut, unreadBytes, screen } =
    reading;
  const { end } = state;
  const reply = toReply(
    {
      command_id: id,
      name,
      status: state.status,
      ...(end && { exit_code: end.exitCode }),
      signal: end?.signal,
      reason: news,
      awaiting_input: prompt === null ? undefined : true,
      prompt: prompt ?? undefined,
      stdout,
      stderr,
      ...(screen && { screen: screen.text, screen_cursor: screen.cursor }),
      truncated: isCut || undefined,
      cursor: next,
      left_out_from: leftOutFrom,
      unread_bytes: unreadBytes || undefined,
      still_running: names(end?.survivors ?? []),
      denied_hosts: nonEmpty(end?.deniedHosts ?? []),
      detail: end?.detail,
    },
    false,
  );
  return isCut ? { ...reply, logOf: id } : reply;
}
