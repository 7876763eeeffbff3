import type { Outcome } from '../contract/outcome.ts';
import type { CommandRequest } from '../contract/request.ts';
import type { Checked } from '../engine/check.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunContext } from '../engine/run.ts';
import type { StartContext, StartRequest } from '../engine/start.ts';

/** Where the caller's commands run and with which variables, unless a call says otherwise. */
export interface CallPlace {
  readonly workingDir?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Runs a command under the rules of one tool family; the family itself cannot choose or change them. */
export type AllowedRun = (
  request: CommandRequest,
  context: Omit<RunContext, 'rules' | 'cwdRoots' | 'environment'> & CallPlace,
) => Promise<Outcome>;

/** Tells what these rules say about a command, and runs nothing. */
export type AllowedCheck = (
  request: Pick<CommandRequest, 'command' | 'cwd' | 'env'>,
  place: CallPlace,
) => Promise<Checked>;

/** Commands that go on after their calls, started under the rules of one tool family. */
export interface AllowedCommands
  extends Pick<
    Engine,
    'read' | 'checkReading' | 'write' | 'stop' | 'list' | 'listSessions' | 'closeSession'
  > {
  start(
    request: StartRequest,
    context: Omit<StartContext, 'rules' | 'cwdRoots' | 'environment'> & CallPlace,
  ): Promise<{ readonly id: string }>;
  runOrGoOn(
    request: CommandRequest & Pick<StartRequest, 'idPrefix'>,
    context: Omit<RunContext, 'rules' | 'cwdRoots'> & CallPlace & { readonly owner: string },
  ): ReturnType<Engine['runOrGoOn']>;
}

/** The request with what its place adds: a relative directory is meant from there, and the call's variables win. */
export function placed<Request extends Pick<CommandRequest, 'cwd' | 'env'>>(
  request: Request,
  { workingDir, env }: CallPlace,
): Request {
  const { cwd = workingDir } = request;
  const relative = request.cwd !== undefined && workingDir !== undefined && !request.cwd.startsWith('/');
  return {
    ...request,
    cwd: relative ? `${workingDir}/${request.cwd}` : cwd,
    env: env === undefined ? request.env : { ...env, ...request.env },
  };
}
