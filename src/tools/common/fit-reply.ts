// Limits that depend on the connection: a reply has as much output as the client passes on to its model, and each hint is
// sent once.
import type { CommandRequest } from '../../contract/request.ts';
import type { RunContext } from '../../engine/context/call-context.ts';
import type { ReadQuery } from '../../engine/reading/read-command.ts';
import { nameTools } from '../../support/name-tools.ts';
import type { ToolContext } from './tool.ts';

/** The limits of the output in one reply. */
interface OutputLimits extends Pick<ReadQuery, 'maxChars' | 'maxLines' | 'fits'> {}

/** The amount of output that a tool and its call ask for, and how the reply writes it. */
export interface OutputPreference {
  readonly defaultChars: number;
  readonly askedChars?: number | undefined;
  /** True if a specification prescribes the amount of output; then only measured limits apply to lines. */
  readonly isSpecified?: boolean | undefined;
  write(stdout: string, stderr: string): string;
}

// Bytes reserved for everything in a reply besides the output.
const reservedLines = 60;
const reservedBytes = 1_200;
// JSON and YAML write a character with at most this many bytes.
const mostBytesPerChar = 6;

/** The limits for one call. A call may ask for more than the usual limits of clients, but not for more than a measured one. */
export function limitOutput(
  { replyLimits }: ToolContext,
  { defaultChars, askedChars, isSpecified, write }: OutputPreference,
): OutputLimits {
  const maxChars = askedChars ?? defaultChars;
  if (!replyLimits || (askedChars !== undefined && !replyLimits.isMeasured)) return { maxChars };
  const { maxBytes } = replyLimits;
  const isFree = isSpecified && !replyLimits.isMeasured;
  const maxLines = isFree ? undefined : replyLimits.maxLines - reservedLines;
  if (maxBytes === undefined) return { maxChars, maxLines };
  const room = maxBytes - reservedBytes;
  const fits = (stdout: string, stderr: string) =>
    (stdout.length + stderr.length) * mostBytesPerChar <= room ||
    Buffer.byteLength(write(stdout, stderr)) <= room;
  return { maxChars, maxLines, fits };
}

/** The same limits as fields of a request and its context. */
export function toRunLimits({ maxChars, maxLines, fits }: OutputLimits): {
  readonly request: Pick<CommandRequest, 'maxOutputChars' | 'maxOutputLines'>;
  readonly context: Pick<RunContext, 'fits'>;
} {
  return { request: { maxOutputChars: maxChars, maxOutputLines: maxLines }, context: { fits } };
}

/** A sentence that the connection has not received yet, with the names of its tools; otherwise undefined. */
export function once(context: ToolContext, sentence: string): string | undefined {
  return context.isNew?.(sentence) === false ? undefined : nameTools(context.toolPrefix, sentence);
}
