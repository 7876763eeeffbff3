import { timingSafeEqual } from 'node:crypto';
import { userInfo } from 'node:os';
import { showCommand } from '../../contract/command.ts';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import type { Asker, ListedCommand } from '../../engine/commands/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { type ControlAnswer, type ControlRequest, person } from './control-call.ts';

/** Answers one request, which has to bring the secret. */
export async function answerLine(
  line: string,
  secret: string,
  engine: () => Promise<Engine>,
  signal: AbortSignal,
): Promise<ControlAnswer> {
  try {
    const request = toRequest(line);
    if (!isSame(request.secret, secret)) throw wrongSecret();
    const asker = { ...person, signal };
    return { result: (await perform(await engine(), request, asker)) ?? null };
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

async function perform(engine: Engine, request: ControlRequest, asker: Asker): Promise<unknown> {
  switch (request.method) {
    case 'list':
      return (await engine.list(asker)).map(toListed);
    case 'read':
      return engine.read(
        request.id,
        { ...request.query, howToReadOn: () => 'nacre logs shows it all.' },
        asker,
      );
    case 'write':
      return engine.write(request.id, request.input, asker);
    case 'stop':
      return engine.stop(request.id, { signal: 'SIGINT', graceMs: 2_000 }, asker);
    case 'end_all':
      return engine.endAll();
    case 'approvals':
      return inboxOf(engine).list();
    case 'answer':
      return inboxOf(engine).answer(request.id, request.answer, whoAnswers());
    default:
      throw unknownMethod(request);
  }
}

// A list of commands that are as long as they may be would be longer than anybody can read.
function toListed(listed: ListedCommand): ListedCommand {
  const script = showCommand(listed.command);
  return script.length > longestCommand
    ? { ...listed, command: { kind: 'shell', script: `${script.slice(0, longestCommand).toWellFormed()}…` } }
    : listed;
}

const longestCommand = 10_000;

function unknownMethod({ method }: { readonly method?: unknown }): NacreError {
  return new NacreError('invalid_request', `This server does not know ${JSON.stringify(method)}.`, {
    hint: 'It may be of another version: restart it.',
  });
}

function inboxOf({ approvals }: Engine): NonNullable<Engine['approvals']> {
  if (approvals) return approvals;
  throw new NacreError('invalid_request', 'Nothing can wait for approval on this server.', {
    hint: 'Look at another server, or set confirm or a policy rule that asks.',
  });
}

// The socket and the secret are for the owner of this process alone.
function whoAnswers(): string {
  return `${userInfo().username}, from another terminal`;
}

function wrongSecret(): NacreError {
  return new NacreError('invalid_request', 'The secret of the request is not that of this server.', {
    hint: 'Read it from the .secret file beside the socket; a server makes a new one when it starts.',
  });
}

function isSame(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
