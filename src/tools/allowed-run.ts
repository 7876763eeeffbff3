import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { Checked } from '../engine/check.ts';
import type { RunContext } from '../engine/run.ts';

/** Runs a command under the rules of one tool family; the family itself cannot choose or change them. */
export type AllowedRun = (
  request: CommandRequest,
  context: Omit<RunContext, 'rules' | 'cwdRoots'>,
) => Promise<Outcome>;

/** Tells what these rules say about a command, and runs nothing. */
export type AllowedCheck = (request: Pick<CommandRequest, 'command' | 'cwd' | 'env'>) => Promise<Checked>;
