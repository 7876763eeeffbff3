import { timingSafeEqual } from 'node:crypto';
import { userInfo } from 'node:os';
import { showCommand } from '../../contract/command.ts';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import type { ListedCommand } from '../../engine/commands/commands.ts';
import type { CallerContext } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { PortRequest } from '../../engine/ports/ports.ts';
import type { PageLink } from '../door.ts';
import { type ControlCall, type ControlReply, type ControlRequest, localUser } from './control-call.ts';
import type { JudgedPrograms } from './judged-programs.ts';
import type { ServerStatus } from './server-status.ts';
import { toPort } from './to-port.ts';

/** The parts of a server that the control socket reaches. */
export interface ControlledServer {
  engine(): Promise<Engine>;
  /** A link to its start page; undefined if it has none. */
  createLink(): PageLink | undefined;
  status(): Promise<ServerStatus>;
  /** Reads the settings file if it changed, and judges each program without arguments; rejects if it cannot apply the file. */
  judge(programs: readonly string[], cwd: string | undefined): Promise<JudgedPrograms>;
}

/** Handles one line of the control socket; refuses a request without the right secret. */
export async function answerRequest(
  line: string,
  secret: string,
  server: ControlledServer,
  signal: AbortSignal,
): Promise<ControlReply> {
  try {
    const request = toRequest(line);
    if (!isSameSecret(request.secret, secret)) throw wrongSecret();
    return { result: (await perform(server, request, { ...localUser, signal })) ?? null };
  } catch (error) {
    const { code, message, hint } = toNacreError(error);
    return { error: { code, message, hint } };
  }
}

function toRequest(line: string): ControlRequest {
  try {
    const request: unknown = JSON.parse(line);
    if (typeof request === 'object' && request !== null) return request as ControlRequest;
  } catch {}
  throw new NacreError(
    'invalid_request',
    `A request is a JSON object on one line, not ${line.slice(0, 40)}.`,
    {
      hint: 'Use nacre ps, logs, attach, stop or approvals of the same version.',
    },
  );
}

async function perform(
  server: ControlledServer,
  request: ControlRequest,
  context: CallerContext,
): Promise<unknown> {
  if (request.method === 'link') return server.createLink();
  if (request.method === 'status') return server.status();
  if (request.method === 'judge') return server.judge(request.programs, request.cwd);
  return performCall(await server.engine(), request, context);
}

/** Performs a call that needs only an engine. */
export async function performCall(
  engine: Engine,
  request: ControlCall,
  context: CallerContext,
): Promise<unknown> {
  switch (request.method) {
    case 'list':
      return (await engine.list(context)).map(shortenCommand);
    case 'read':
      return engine.read(
        idOf(request),
        { ...request.query, howToReadOn: () => 'nacre logs shows the whole output.' },
        context,
      );
    case 'write':
      return engine.write(idOf(request), request.input, context);
    case 'stop':
      return engine.stop(idOf(request), { signal: 'SIGINT', graceMs: 2_000 }, context);
    case 'end_all':
      return engine.endAll();
    case 'ports':
      return engine.ports.list();
    case 'open_port':
      return engine.ports.open(toPortRequest(request), context.caller);
    case 'close_port':
      return engine.ports.close(toPort('port', request.port), context.caller);
    case 'approvals':
      return inboxOf(engine).list();
    case 'answer':
      return inboxOf(engine).answer(idOf(request), request.answer, nameUser());
    default:
      throw unknownMethod(request);
  }
}

function toPortRequest({ port, to, room }: Extract<ControlCall, { method: 'open_port' }>): PortRequest {
  return { port: toPort('port', port), hostPort: toPort('to', to), room: String(room) };
}

// Without this check an absent id would match every command without a name.
function idOf({ id }: { readonly id: unknown }): string {
  if (typeof id === 'string') return id;
  throw new NacreError('job_not_found', `The id of a command must be a string, not ${JSON.stringify(id)}.`, {
    hint: 'nacre ps lists the commands.',
  });
}

// A list of many commands of maximum length would exceed `maxLineBytes`.
function shortenCommand(listed: ListedCommand): ListedCommand {
  const script = showCommand(listed.command);
  return script.length > maxCommandChars
    ? { ...listed, command: { kind: 'shell', script: `${script.slice(0, maxCommandChars).toWellFormed()}…` } }
    : listed;
}

const maxCommandChars = 10_000;

function unknownMethod({ method }: { readonly method?: unknown }): NacreError {
  return new NacreError(
    'invalid_request',
    `This server does not know the method ${JSON.stringify(method)}.`,
    {
      hint: 'It may run another version of nacre: restart it.',
    },
  );
}

function inboxOf({ approvals }: Engine): NonNullable<Engine['approvals']> {
  if (approvals) return approvals;
  throw new NacreError('invalid_request', 'This server does not hold commands for approval.', {
    hint: 'Check another server, or set confirm or a policy rule with the verdict ask.',
  });
}

// Only the user who runs the server can read the socket's secret, so that user is the one who answers.
function nameUser(): string {
  return `${userInfo().username}, from another terminal`;
}

function wrongSecret(): NacreError {
  return new NacreError('invalid_request', 'The secret in the request does not match this server.', {
    hint: 'Read it from the .secret file next to the socket; a server creates a new one when it starts.',
  });
}

function isSameSecret(sent: unknown, expected: string): boolean {
  if (typeof sent !== 'string') return false;
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
