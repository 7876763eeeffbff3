// What is typed into a command:
// 1. it waits until the command has taken what was typed before, 2. where it would run as commands it is judged like any
// command, 3. it is recorded, 4. it is handed over, and nobody waits for long until a command that does not read takes it.
import type { Backend } from '../../contract/backend.ts';
import { NacreError } from '../../contract/failure.ts';
import type { TerminalSize } from '../../contract/job.ts';
import type { KeptCommand } from '../../sessions/command-registry.ts';
import { createDeferred } from '../../support/deferred.ts';
import { within } from '../../support/within.ts';
import type { Asker } from '../commands/commands.ts';
import { obey } from '../journey/admit.ts';
import type { EngineParts } from '../run.ts';
import { hideInDecision, toSecrets } from './hide-in-decision.ts';
import { joinStrokes, type KeyStroke, toKeyName, toKeyStrokes } from './to-keys.ts';

/** What is to be written to a command: the new size first, then the text, the keys and the end. */
export interface CommandInput {
  readonly text: string;
  /** Keys by name, such as `enter` and `ctrl-c`. */
  readonly keys?: readonly string[] | undefined;
  readonly eof: boolean;
  readonly resize?: TerminalSize | undefined;
  /** Keeps the text out of the audit log and of what is read later. */
  readonly secret: boolean;
}

/** What became of an input. */
export interface Typed {
  /** False while some of it waits for a command that does not read. */
  readonly isTaken: boolean;
}

const patienceMs = 1_000;
// What waits for a command that does not read is kept in memory.
const mostUntakenChars = 16_777_216;

/** Types into a command. */
export async function write(
  parts: EngineParts,
  idOrName: string,
  given: CommandInput,
  asker: Asker,
): Promise<Typed> {
  const command = parts.sessions.book.find(asker.owner, idOrName);
  const input = { ...given, keys: (given.keys ?? []).map(toKeyName) };
  const strokes = toStrokes(command, input);
  if (command.untaken.chars + input.text.length > mostUntakenChars) throw stillTyping(command.id);
  const handed = createDeferred<{ readonly taken: Promise<void> }>();
  let isOurTurn = false;
  const step = async () => {
    isOurTurn = true;
    await allow(parts, command, input, asker);
    const taken = handOver(parts.backend, command, input, strokes);
    handed.resolve({ taken });
    await taken;
  };
  // What only interrupts does not wait behind what nobody reads.
  const line = isInterrupt(strokes) ? undefined : command.id;
  const signal = command.inputJudge ? givingUp(asker.signal) : asker.signal;
  command.untaken.chars += input.text.length;
  parts.sessions.inputs
    .inTurn(line, { signal }, step)
    .catch((error) => handed.reject(isOurTurn || asker.signal?.aborted ? error : stillTyping(command.id)))
    .finally(() => {
      command.untaken.chars -= input.text.length;
    });
  // Whoever is judged has to hear what came of it.
  if (!command.inputJudge && !(await within(handed.promise, patienceMs))) return { isTaken: false };
  const { taken } = await handed.promise;
  return { isTaken: await within(taken, patienceMs) };
}

type Input = CommandInput & { readonly keys: readonly string[] };

function givingUp(signal: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(patienceMs);
  return signal ? AbortSignal.any([signal, late]) : late;
}

function toStrokes({ screen }: KeptCommand, { text, keys, eof }: Input): readonly KeyStroke[] {
  const mode = { hasTerminal: screen !== undefined, applicationKeys: screen?.applicationKeys() ?? false };
  // Pressing Enter sends a carriage return; a terminal makes a line end of it.
  const written = { does: 'write', text: screen ? text.replace(/\r?\n/g, '\r') : text } as const;
  const first = text === '' ? [] : [written];
  const last = eof ? [{ does: 'end' } as const] : [];
  return joinStrokes([...first, ...toKeyStrokes(keys, mode), ...last]);
}

function isInterrupt(strokes: readonly KeyStroke[]): boolean {
  return strokes.every(({ does }) => does === 'interrupt');
}

async function allow(
  { audit, inbox }: EngineParts,
  command: KeptCommand,
  { text, keys, eof, secret }: Input,
  { owner, caller, askPerson = inbox?.ask, signal }: Asker,
): Promise<void> {
  const { id, cwd, inputJudge, secrets } = command;
  if (secret) for (const word of toSecrets(text)) secrets.add(word);
  const typed = keys.includes('enter') ? `${text}\n` : text;
  if (inputJudge && typed !== '') {
    const decision = inputJudge.judge(typed);
    audit.record({ kind: 'decided', id, caller, cwd, decision: hideInDecision(decision, secrets) });
    const script = { kind: 'shell', script: typed } as const;
    const asked = { command: script, cwd, env: {}, input: null, into: id, sandbox: null };
    const approved = await obey({ decision, asked, id, caller, owner, signal }, askPerson);
    if (approved) audit.record({ kind: 'approved', id, caller, by: approved.by });
  }
  if (inputJudge?.onlyListed) checkKeys(keys);
  audit.record({ kind: 'input', id, caller, text, keys, eof, secret });
  inputJudge?.typed(typed);
}

// Whatever else a key does in a shell, it does to text that was never judged.
function checkKeys(keys: readonly string[]): void {
  const other = keys.find((key) => !['enter', 'ctrl-c', 'ctrl-d'].includes(key));
  if (other === undefined) return;
  throw new NacreError(
    'policy_denied',
    `The key ${other} is not allowed in a shell while only listed programs are.`,
    { hint: 'Type complete commands; ctrl-c and ctrl-d are allowed.' },
  );
}

async function handOver(
  backend: Backend,
  { id, screen }: KeptCommand,
  { resize, text, secret }: Input,
  strokes: readonly KeyStroke[],
): Promise<void> {
  if (resize) {
    await backend.resize(id, resize);
    screen?.resize(resize);
  }
  const hide = secret ? toSecrets(text) : [];
  for (const stroke of strokes) await press(backend, id, stroke, hide);
}

function press(backend: Backend, id: string, stroke: KeyStroke, hide: readonly string[]): Promise<void> {
  if (stroke.does === 'interrupt') return backend.interrupt(id);
  if (stroke.does === 'end') return backend.write(id, new Uint8Array(), { eof: true });
  return backend.write(id, Buffer.from(stroke.text), { hide });
}

function stillTyping(id: string): NacreError {
  return new NacreError('resources_unavailable', `${id} has not taken yet what was typed before.`, {
    hint: 'It may not read its input: look at its output, press ctrl-c, or stop it. Nothing of this call was typed.',
  });
}
