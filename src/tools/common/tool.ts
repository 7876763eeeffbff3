import type { Caller } from '../../contract/caller.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { ReplyLimits } from '../../contract/reply.ts';
import type { CommandRequest } from '../../contract/request.ts';
import type { ToolResult } from '../../contract/tool-result.ts';
import type { RunContext, StartContext, StartRequest } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Checked } from '../../engine/journey/check.ts';

/** A tool as every door offers it; `call` validates the input itself. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** True for the tool of a family that a model needs in every conversation. */
  readonly alwaysLoad?: boolean | undefined;
  /** True if `ToolContext.on` chooses the machine of its command. */
  readonly choosesMachine?: boolean | undefined;
  inputSchema(): ToolSchema;
  outputSchema(): ToolSchema;
  /** Replies to any input: invalid input gets an error reply, not a rejection. */
  call(input: unknown, context: ToolContext): Promise<ToolReply>;
}

/** A tool without its code, as data. */
export interface ToolData extends Omit<Tool, 'call' | 'inputSchema' | 'outputSchema'> {
  readonly inputSchema: ToolSchema;
  readonly outputSchema: ToolSchema;
}

/** MCP hints about a tool's behaviour. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** JSON Schema (2020-12) of a tool's input or output. */
export type ToolSchema = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** The reply of a tool: text for the model, the same as data, and whether the call failed. */
export interface ToolReply {
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** `_meta` of the MCP result, such as what the sandbox enforced. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Text blocks after `text`. */
  readonly moreTexts?: readonly string[] | undefined;
  /** Id of the command whose output was truncated here and can be read in full as a resource. */
  readonly logId?: string | undefined;
  /** The result for in-process callers, with separate `output` and `error`; derived from the reply if absent. */
  readonly result?: ToolResult | undefined;
  /** The result in the shape that the tool's own specification defines, for in-process callers. */
  readonly ownResult?: object | undefined;
}

/** Caller-side information that a tool needs for one call. */
export interface ToolContext
  extends CallDefaults,
    Pick<
      RunContext,
      'room' | 'askUser' | 'workspace' | 'dryRun' | 'signal' | 'onProgress' | 'onOutput' | 'outputGraceMs'
    > {
  readonly caller: Caller;
  /** Id that owns the shells and commands this call can see. */
  readonly owner: string;
  /** Protocol session of the call if one owner has several; each has its own persistent shells. */
  readonly connection?: string | undefined;
  /** Id whose read position advances, if it is not `owner`. */
  readonly reader?: string | undefined;
  /** The size of replies that the caller's client passes on to its model; absent if there is no client. */
  readonly replyLimits?: ReplyLimits | undefined;
  /** The setting `tool_prefix`, for tool names in hints. */
  readonly toolPrefix?: string | undefined;
  /** True the first time that a connection receives this text, such as a hint; absent if there is no connection. */
  readonly isNew?: ((text: string) => boolean) | undefined;
  /** Persistent shell to use when the input names none. */
  readonly session?: string | undefined;
}

/** Machine, working directory and variables for commands whose input does not set them. */
export interface CallDefaults {
  /** The machine that the input names. */
  readonly on?: string | undefined;
  readonly workingDir?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Runs a command under the rules of one tool family, which the family cannot choose or change. */
export type AllowedRun = (
  request: CommandRequest,
  context: Omit<RunContext, 'rules' | 'cwdRoots' | 'environment'> & CallDefaults,
) => Promise<Outcome>;

/** Reports what the rules of one tool family decide about a command, without running it. */
export type AllowedCheck = (
  request: Pick<CommandRequest, 'command' | 'cwd' | 'env'>,
  context: CallDefaults & Pick<RunContext, 'caller'>,
) => Promise<Checked>;

/** Commands that keep running after their call, started under the rules of one tool family. */
export interface AllowedCommands
  extends Pick<
    Engine,
    'read' | 'checkReading' | 'write' | 'stop' | 'list' | 'listSessions' | 'closeSession'
  > {
  start(
    request: StartRequest,
    context: Omit<StartContext, 'rules' | 'cwdRoots' | 'environment'> & CallDefaults,
  ): Promise<{ readonly id: string }>;
  runOrDetach(
    request: CommandRequest & Pick<StartRequest, 'idPrefix'>,
    context: Omit<RunContext, 'rules' | 'cwdRoots'> & CallDefaults & { readonly owner: string },
  ): ReturnType<Engine['runOrDetach']>;
}
