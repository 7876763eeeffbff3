// Typing into a command:
// 1. the text, keys and EOF become key strokes
// 2. the call waits in `sessions.inputQueue` until the command has read earlier input
// 3. if the command executes its stdin, the policy judges the text; the input is recorded
// 4. the strokes are written; a command that does not read leaves them unread, and the call returns after `patienceMs`
import type { Backend } from '../../contract/backend.ts';
import { NacreError } from '../../contract/failure.ts';
import type { TerminalSize } from '../../contract/job.ts';
import type { RegisteredCommand } from '../../sessions/command-registry.ts';
import { createDeferred, settlesWithin } from '../../support/timing.ts';
import { deniedError, requireApproval } from '../approval/approval.ts';
import type { CallerContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { hideInDecision, toSecrets } from './hide-in-decision.ts';
import { joinStrokes, type KeyStroke, toKeyName, toKeyStrokes } from './to-keys.ts';

/** Input for a command, applied in this order: `resize`, `text`, `keys`, `eof`. */
export interface WriteRequest {
  readonly text: string;
  /** Key names such as `enter` and `ctrl-c`. */
  readonly keys?: readonly string[] | undefined;
  readonly eof: boolean;
  readonly resize?: TerminalSize | undefined;
  /** Masks the text in the audit log and in the command's output. */
  readonly secret: boolean;
}

/** Result of a write. */
export interface WriteResult {
  /** False while the command has not read all of it. */
  readonly isTaken: boolean;
}

const patienceMs = 1_000;
// Unread input is buffered in memory.
const maxUnreadChars = 16_777_216;

/** Types into a command. */
export async function write(
  deps: EngineDeps,
  idOrName: string,
  given: WriteRequest,
  context: CallerContext,
): Promise<WriteResult> {
  const command = deps.sessions.registry.find(context.owner, idOrName);
  const input = { ...given, keys: (given.keys ?? []).map(toKeyName) };
  const strokes = toStrokes(command, input);
  if (command.unreadInput.chars + input.text.length > maxUnreadChars) throw notReading(command.id);
  const written = createDeferred<{ readonly consumed: Promise<void> }>();
  let isOurTurn = false;
  const step = async () => {
    isOurTurn = true;
    await allow(deps, command, input, context);
    const consumed = send(deps.backend, command, input, strokes);
    written.resolve({ consumed });
    await consumed;
  };
  // An interrupt alone does not wait behind unread input.
  const key = isInterrupt(strokes) ? undefined : command.id;
  const signal = command.inputJudge ? withTimeout(context.signal) : context.signal;
  command.unreadInput.chars += input.text.length;
  deps.sessions.inputQueue
    .inTurn(key, { signal }, step)
    .catch((error) => written.reject(isOurTurn || context.signal?.aborted ? error : notReading(command.id)))
    .finally(() => {
      command.unreadInput.chars -= input.text.length;
    });
  // Judged input must not return early: the caller has to learn the decision.
  if (!command.inputJudge && !(await settlesWithin(written.promise, patienceMs))) return { isTaken: false };
  const { consumed } = await written.promise;
  return { isTaken: await settlesWithin(consumed, patienceMs) };
}

type Input = WriteRequest & { readonly keys: readonly string[] };

function withTimeout(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(patienceMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

function toStrokes({ screen }: RegisteredCommand, { text, keys, eof }: Input): readonly KeyStroke[] {
  const mode = { hasTerminal: screen !== undefined, applicationKeys: screen?.applicationKeys() ?? false };
  // Enter sends CR; the terminal's line discipline turns it into LF.
  const written = { does: 'write', text: screen ? text.replace(/\r?\n/g, '\r') : text } as const;
  const first = text === '' ? [] : [written];
  const last = eof ? [{ does: 'end' } as const] : [];
  return joinStrokes([...first, ...toKeyStrokes(keys, mode), ...last]);
}

function isInterrupt(strokes: readonly KeyStroke[]): boolean {
  return strokes.every(({ does }) => does === 'interrupt');
}

async function allow(
  deps: EngineDeps,
  command: RegisteredCommand,
  { text, keys, eof, secret }: Input,
  { owner, caller, askUser, signal }: CallerContext,
): Promise<void> {
  const { audit } = deps;
  const { id, cwd, machine, inputJudge, secrets } = command;
  if (secret) for (const line of toSecrets(text)) secrets.add(line);
  const typed = keys.includes('enter') ? `${text}\n` : text;
  if (inputJudge && typed !== '') {
    const decision = inputJudge.judge(typed);
    audit.record({ kind: 'decided', id, caller, cwd, decision: hideInDecision(decision, secrets) });
    if (decision.verdict === 'deny') throw deniedError(decision);
    if (decision.verdict === 'ask') {
      const script = { kind: 'shell', script: typed } as const;
      const asked = { command: script, cwd, env: {}, input: null, into: id, sandbox: null };
      await requireApproval(deps, { decision, asked, id, caller, owner, signal }, askUser);
    }
  }
  if (inputJudge?.onlyListed) checkKeys(keys);
  audit.record({ kind: 'input', id, caller, text, keys, eof, secret, machine });
  inputJudge?.typed(typed);
}

// Other keys edit or recall a line in the shell, which then runs text that was never judged.
function checkKeys(keys: readonly string[]): void {
  const other = keys.find((key) => !['enter', 'ctrl-c', 'ctrl-d'].includes(key));
  if (other === undefined) return;
  throw new NacreError(
    'policy_denied',
    `The key ${other} is not allowed in a shell while only listed programs may run.`,
    { hint: 'Type complete commands; ctrl-c and ctrl-d are allowed.' },
  );
}

async function send(
  backend: Backend,
  { id, screen }: RegisteredCommand,
  { resize, text, secret }: Input,
  strokes: readonly KeyStroke[],
): Promise<void> {
  if (resize) {
    await backend.resize(id, resize);
    screen?.resize(resize);
  }
  const hide = secret ? toSecrets(text) : [];
  for (const [index, stroke] of strokes.entries()) {
    const before = strokes[index - 1];
    const after = strokes[index + 1];
    // An EOF is sent together with the text before it, because a command that reads only the text may have ended by
    // then.
    if (stroke.does === 'end' && before?.does === 'write') continue;
    await press(backend, id, stroke, { hide, eof: after?.does === 'end' });
  }
}

function press(
  backend: Backend,
  id: string,
  stroke: KeyStroke,
  { hide, eof }: { readonly hide: readonly string[]; readonly eof: boolean },
): Promise<void> {
  if (stroke.does === 'interrupt') return backend.interrupt(id);
  if (stroke.does === 'end') return backend.write(id, new Uint8Array(), { eof: true });
  return backend.write(id, Buffer.from(stroke.text), eof ? { hide, eof } : { hide });
}

function notReading(id: string): NacreError {
  return new NacreError('resources_unavailable', `${id} has not read earlier input yet.`, {
    hint: 'It may have stopped reading stdin: read its output, press ctrl-c, or stop it. Nothing of this call was typed.',
  });
}
