import { timingSafeEqual } from 'node:crypto';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import type { CallerContext } from '../../engine/context/call-context.ts';
import type { Engine } from '../../engine/engine.ts';
import { type ControlReply, type ControlRequest, localUser } from '../../servers/control-call.ts';
import { performCall } from '../../servers/perform-call.ts';
import type { ServerStatus } from '../../servers/server-status.ts';
import type { NewPage, PageLink } from '../door.ts';
import type { JudgedPrograms } from './judged-programs.ts';

/** The parts of a server that the control socket reaches. */
export interface ControlledServer {
  engine(): Promise<Engine>;
  /** A link to its console; undefined if it has none. */
  createLink(page?: NewPage): PageLink | undefined;
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
  if (request.method === 'link') return server.createLink(toNewPage(request));
  if (request.method === 'status') return server.status();
  if (request.method === 'judge') return server.judge(request.programs, request.cwd);
  return performCall(await server.engine(), request, context);
}

// An earlier `nacre open` sends neither field.
function toNewPage({ role, name }: Extract<ControlRequest, { method: 'link' }>): NewPage {
  return {
    role: role === 'viewer' ? role : 'operator',
    name: typeof name === 'string' ? name.slice(0, 40) : '',
  };
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
