// Contexts and requests that callers pass: `RunContext` for a command that is awaited, `StartContext` and `StartRequest` for
// one that outlives its call, `CallerContext` for a call about a command that was started before.
import type { Caller } from '../../contract/caller.ts';
import type { CwdNames, Rules } from '../../contract/decision.ts';
import type { EnvironmentRules, OutputChunk, TerminalSize } from '../../contract/job.ts';
import type { Resources } from '../../contract/limits.ts';
import type { MachineSettings } from '../../contract/machine.ts';
import type { CommandRequest } from '../../contract/request.ts';
import type { Share } from '../../contract/share.ts';
import type { QueueWait } from '../../sessions/turn-queue.ts';
import type { AskUser } from '../approval/approval.ts';

/** The caller's side of a command: identity, rules, and how it listens and cancels. */
export interface RunContext {
  readonly caller: Caller;
  /** The id that owns the command; without one, no later call can find it. */
  readonly owner?: string | undefined;
  /** The protocol session of the call if its owner has several. */
  readonly connection?: string | undefined;
  /** Key of the room whose loopback and /tmp the command shares in a sandbox; that of `owner` and `connection` by default. */
  readonly room?: string | undefined;
  readonly rules: Rules;
  /** The caller's rules on another machine; absent if it can only use this one. */
  readonly rulesOn?: ((machine: MachineSettings) => MachineRules) | undefined;
  /** Groups of directories; a requested `cwd` must lie in one directory of each group. */
  readonly cwdRoots: readonly (readonly string[])[];
  /** Also checks the server's own directory, where a command without `cwd` runs. */
  readonly judgeDefaultCwd?: boolean | undefined;
  /** The caller's share of `max_running`; undefined for the owner of the server. */
  readonly share?: Share | undefined;
  /** Names for errors about the directory; `cwd` and `ALLOWED_CWD_ROOTS` by default. */
  readonly cwdNames?: CwdNames | undefined;
  /** Refuses system and credential directories as `cwd`, even below a root. */
  readonly refuseSensitive?: boolean | undefined;
  /** Rules for which of the server's variables the command gets, in addition to the worker's own. */
  readonly environment?: EnvironmentRules | undefined;
  /** Directories that stay writable in a sandbox if the settings name none. */
  readonly workspace?: readonly string[] | undefined;
  /** The hint in a truncated output on how to read the rest; a function is called with the command id. */
  readonly howToGetRest: string | ((id: string) => string);
  /** Returns whether the texts fit into a reply; if not, they are cut further. */
  readonly fits?: ((stdout: string, stderr: string) => boolean) | undefined;
  /** Asks the caller's user for approval; absent if the caller cannot prompt. */
  readonly askUser?: AskUser | undefined;
  /** Stops after the decision: the user is not asked and nothing runs. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called about once a second with the resources that the process tree has used so far. */
  readonly onUsage?: ((used: Resources) => void) | undefined;
  /** Called if other calls to the same persistent shell are ahead. */
  readonly onWait?: ((ahead: number) => void) | undefined;
  /** Called with every byte, in order; the next read waits until it resolves. */
  readonly onOutput?: ((chunks: readonly OutputChunk[]) => Promise<void>) | undefined;
  /** How long one call of `onOutput` may take after the command's end; without a limit by default. */
  readonly outputGraceMs?: number | undefined;
}

/** The part of a context that differs between machines. */
export type MachineRules = Pick<
  RunContext,
  'rules' | 'cwdRoots' | 'judgeDefaultCwd' | 'cwdNames' | 'refuseSensitive' | 'environment'
>;

/** How much a running command has printed so far. */
export interface Progress {
  readonly elapsedMs: number;
  readonly bytes: number;
  /** Lines so far; null once output was skipped because the command prints too fast to count. */
  readonly lines: number | null;
  readonly lastLine: string;
}

type StartFields = Omit<
  RunContext,
  'onProgress' | 'onUsage' | 'onOutput' | 'outputGraceMs' | 'howToGetRest' | 'fits'
>;

/** The caller's side of a command that outlives its call. */
export interface StartContext extends StartFields {
  readonly owner: string;
}

/** The context of a command during its journey, which has an id from the start, for its audit records. */
export interface JourneyContext extends StartFields {
  readonly id: string;
  /** True if the call waits for the end, so that the user can be asked about held changes instead of the command. */
  readonly asksAfter?: boolean | undefined;
  /** Lists the command from its start, because it outlives its call. */
  readonly inBackground?: boolean | undefined;
}

/** The context of a command whose outcome the call waits for, with the time that the call was queued. */
export interface RunCall extends RunContext, JourneyContext {
  readonly id: string;
  readonly owner?: string | undefined;
  readonly wait: QueueWait;
}

/** A command that outlives its call. */
export interface StartRequest
  extends Pick<
    CommandRequest,
    | 'command'
    | 'on'
    | 'cwd'
    | 'env'
    | 'timeoutMs'
    | 'limits'
    | 'sandbox'
    | 'changes'
    | 'quotePaths'
    | 'session'
  > {
  /** Prefix of its id; `cmd` by default. */
  readonly idPrefix?: 'cmd' | 'shell' | undefined;
  /** An alias of the id, for its owner. */
  readonly name?: string | undefined;
  /** Key of the persistent shell whose directory, variables, functions and options it starts with. */
  readonly beginsAs?: string | undefined;
  /** Runs it in a terminal of this size in place of pipes. */
  readonly terminal?: TerminalSize | undefined;
  /** `open` accepts later writes, `empty` is at EOF from the start, `text` is written and followed by EOF. */
  readonly stdin: 'open' | 'empty' | { readonly text: string };
}

/** The caller's side of a call about an existing command. */
export interface CallerContext {
  readonly caller: Caller;
  readonly owner: string;
  /** The protocol session of the call if its owner has several. */
  readonly connection?: string | undefined;
  /** Key of the read position, for callers that share an owner; `owner` by default. */
  readonly reader?: string | undefined;
  /** Asks the caller's user for approval; absent if the caller cannot prompt. */
  readonly askUser?: AskUser | undefined;
  readonly signal?: AbortSignal | undefined;
}
