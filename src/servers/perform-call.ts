import { userInfo } from 'node:os';
import { showCommand } from '../contract/command.ts';
import { NacreError } from '../contract/failure.ts';
import type { ReadResult } from '../contract/job.ts';
import type { ListedCommand } from '../engine/commands/commands.ts';
import type { CallerContext } from '../engine/context/call-context.ts';
import type { Engine } from '../engine/engine.ts';
import type { PortRequest } from '../engine/ports/ports.ts';
import type { ControlCall, SentBytes } from './control-call.ts';
import { toPort } from './to-port.ts';

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
    case 'bytes':
      return toSentBytes(await engine.readBytes(idOf(request), request.from, request.query, context));
    case 'write':
      return engine.write(idOf(request), request.input, named(context, request.by));
    case 'stop':
      return engine.stop(idOf(request), { signal: 'SIGINT', graceMs: 2_000 }, named(context, request.by));
    case 'end_all':
      return engine.endAll();
    case 'ports':
      return engine.ports.list();
    case 'open_port':
      return engine.ports.open(toPortRequest(request), context.caller);
    case 'close_port':
      return engine.ports.close(toPort('port', request.port), context.caller);
    case 'approvals':
      engine.approvals?.attend(request.attendMs ?? 0);
      return inboxOf(engine).list();
    case 'answer': {
      const { digest, note, by = nameUser() } = request;
      return inboxOf(engine).answer(idOf(request), request.answer, { by, digest, note });
    }
    default:
      throw unknownMethod(request);
  }
}

// A page of another server may send a name for the record; only this user can send calls, since the secret is private.
function named(context: CallerContext, by: string | undefined): CallerContext {
  return by === undefined ? context : { ...context, caller: { door: 'http', client: String(by) } };
}

function toSentBytes({ chunks, ...read }: ReadResult): SentBytes {
  const encode = (data: Uint8Array) => Buffer.from(data).toString('base64');
  return { ...read, chunks: chunks.map(({ stream, data }) => ({ stream, data: encode(data) })) };
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
  throw new NacreError('invalid_request', 'This server cannot hold approval requests.', {
    hint: 'Check another server, or set confirm or a policy rule with the verdict ask.',
  });
}

// Only the user who runs the server can read the socket's secret, so that user is the one who answers.
function nameUser(): string {
  return `${userInfo().username}, from another terminal`;
}
