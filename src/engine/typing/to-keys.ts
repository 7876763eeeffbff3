import { NacreError } from '../../contract/failure.ts';

/** Whether a program has a terminal, and the mode of its arrow keys (DECCKM). */
export interface KeyMode {
  /** False for a pipe, through which `throughPipe` sends only a few keys. */
  readonly hasTerminal: boolean;
  readonly applicationKeys: boolean;
}

/** The effect of a key: bytes to write, SIGINT or EOF. */
export type KeyStroke =
  | { readonly does: 'write'; readonly text: string }
  | { readonly does: 'interrupt' }
  | { readonly does: 'end' };

/** Converts key names such as `enter`, `ctrl-c`, `alt-x`, `up` and `f1` to strokes; throws for unknown names. */
export function toKeyStrokes(names: readonly string[], mode: KeyMode): readonly KeyStroke[] {
  return names.map((name) => {
    const key = toKeyName(name);
    const stroke = mode.hasTerminal ? atTerminal(key, mode) : throughPipe(key);
    if (stroke === undefined) throw unknownKey(name, mode);
    return stroke;
  });
}

/** The canonical name of a key: `C-c` and `Control+C` become `ctrl-c`, `return` becomes `enter`. */
export function toKeyName(name: string): string {
  const key = name
    .toLowerCase()
    .replace(/^(?:control|c)[-+]/, 'ctrl-')
    .replace(/^(ctrl|alt|shift)\+/, '$1-');
  return aliases.get(key) ?? key;
}

const aliases: ReadonlyMap<string, string> = new Map([
  ['return', 'enter'],
  ['escape', 'esc'],
]);

/** Joins adjacent `write` strokes: a program might react to the first half before the rest arrives. */
export function joinStrokes(strokes: readonly KeyStroke[]): readonly KeyStroke[] {
  const joined: KeyStroke[] = [];
  for (const stroke of strokes) {
    const before = joined.at(-1);
    if (stroke.does !== 'write' || before?.does !== 'write') joined.push(stroke);
    else joined.splice(-1, 1, write(before.text + stroke.text));
  }
  return joined;
}

function atTerminal(key: string, { applicationKeys }: KeyMode): KeyStroke | undefined {
  const alt = /^alt-(.+)$/.exec(key)?.[1];
  if (alt !== undefined) {
    const inner = alt.length === 1 ? write(alt) : atTerminal(alt, { hasTerminal: true, applicationKeys });
    return inner?.does === 'write' ? write(`\x1b${inner.text}`) : undefined;
  }
  const control = /^ctrl-([a-z@[\\\]^_])$/.exec(key)?.[1];
  if (control !== undefined) return write(String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f));
  const arrow = arrows.get(key);
  if (arrow !== undefined) return write(`\x1b${applicationKeys ? 'O' : '['}${arrow}`);
  const text = keys.get(key);
  return text === undefined ? undefined : write(text);
}

function throughPipe(key: string): KeyStroke | undefined {
  if (key === 'ctrl-c') return { does: 'interrupt' };
  if (key === 'ctrl-d') return { does: 'end' };
  const text = key === 'enter' ? '\n' : keys.get(key);
  return text === undefined || text.length > 1 ? undefined : write(text);
}

function write(text: string): KeyStroke {
  return { does: 'write', text };
}

const arrows: ReadonlyMap<string, string> = new Map([
  ['up', 'A'],
  ['down', 'B'],
  ['right', 'C'],
  ['left', 'D'],
  ['home', 'H'],
  ['end', 'F'],
]);

const keys: ReadonlyMap<string, string> = new Map([
  ['enter', '\r'],
  ['tab', '\t'],
  ['shift-tab', '\x1b[Z'],
  ['space', ' '],
  ['esc', '\x1b'],
  ['backspace', '\x7f'],
  ['delete', '\x1b[3~'],
  ['insert', '\x1b[2~'],
  ['pageup', '\x1b[5~'],
  ['pagedown', '\x1b[6~'],
  ['f1', '\x1bOP'],
  ['f2', '\x1bOQ'],
  ['f3', '\x1bOR'],
  ['f4', '\x1bOS'],
  ['f5', '\x1b[15~'],
  ['f6', '\x1b[17~'],
  ['f7', '\x1b[18~'],
  ['f8', '\x1b[19~'],
  ['f9', '\x1b[20~'],
  ['f10', '\x1b[21~'],
  ['f11', '\x1b[23~'],
  ['f12', '\x1b[24~'],
]);

function unknownKey(name: string, { hasTerminal }: KeyMode): NacreError {
  const known = hasTerminal
    ? `${[...arrows.keys(), ...keys.keys()].join(', ')}, ctrl-a to ctrl-z, alt- with a key`
    : 'enter, tab, space, esc, backspace, ctrl-c, ctrl-d; other keys need a terminal (pty)';
  return new NacreError('invalid_request', `keys: ${JSON.stringify(name.slice(0, 40))} is not a key.`, {
    hint: `Keys: ${known}. To type other text, use the field text.`,
  });
}
