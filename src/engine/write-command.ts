import type { Backend } from '../contract/backend.ts';
import { NacreError } from '../contract/failure.ts';
import type { TerminalSize } from '../contract/job.ts';
import { obey } from './admit.ts';
import type { Asker } from './commands.ts';
import { toSecret } from './hide-secrets.ts';
import type { EngineParts } from './run.ts';
import { joinStrokes, type KeyStroke, toKeyStrokes } from './to-keys.ts';

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

/** Writes to a command. */
export async function write(
  { backend, sessions, audit, inbox }: EngineParts,
  idOrName: string,
  input: CommandInput,
  { owner, caller, askPerson = inbox?.ask, signal }: Asker,
): Promise<void> {
  const command = sessions.book.find(owner, idOrName);
  const { id, cwd, inputJudge, screen, secrets } = command;
  const { text, keys = [], eof, resize, secret } = input;
  const mode = { hasTerminal: screen !== undefined, applicationKeys: screen?.applicationKeys() ?? false };
  const strokes = toKeyStrokes(keys, mode);
  const typed = keys.includes('enter') ? `${text}\n` : text;
  if (inputJudge && typed !== '') {
    const decision = inputJudge.judge(typed);
    audit.record({ kind: 'decided', id, caller, cwd, decision });
    const asked = {
      command: { kind: 'shell', script: typed },
      cwd,
      env: {},
      input: null,
      into: id,
      sandbox: null,
    } as const;
    const approved = await obey({ decision, asked, id, caller, owner, signal }, askPerson);
    if (approved) audit.record({ kind: 'approved', id, caller, by: approved.by });
  }
  if (inputJudge?.onlyListed) checkKeys(keys);
  audit.record({ kind: 'input', id, caller, text, keys, eof, secret });
  const hidden = secret ? toSecret(text) : undefined;
  if (hidden !== undefined) secrets.add(hidden);
  if (resize) {
    await backend.resize(id, resize);
    screen?.resize(resize);
  }
  // Pressing Enter sends a carriage return; a terminal makes a line end of it.
  const first = { does: 'write', text: screen ? text.replace(/\r?\n/g, '\r') : text } as const;
  const last = eof ? [{ does: 'end' } as const] : [];
  for (const stroke of joinStrokes([first, ...strokes, ...last])) await press(backend, id, stroke);
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

function press(backend: Backend, id: string, stroke: KeyStroke): Promise<void> {
  if (stroke.does === 'interrupt') return backend.interrupt(id);
  if (stroke.does === 'end') return backend.write(id, new Uint8Array(), { eof: true });
  return backend.write(id, Buffer.from(stroke.text));
}
