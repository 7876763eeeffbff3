type Key = readonly [words: string, body: object];

const ends: readonly Key[] = [
  ['Ctrl C', { keys: ['ctrl-c'] }],
  ['End of input', { eof: true }],
];
const forTerminals: readonly Key[] = [
  ['Enter', { keys: ['enter'] }],
  ['Tab', { keys: ['tab'] }],
  ['Esc', { keys: ['esc'] }],
  ['↑', { keys: ['up'] }],
  ['↓', { keys: ['down'] }],
  ['←', { keys: ['left'] }],
  ['→', { keys: ['right'] }],
  ['Backspace', { keys: ['backspace'] }],
  ['Ctrl C', { keys: ['ctrl-c'] }],
  ['Ctrl D', { keys: ['ctrl-d'] }],
];
const names: Readonly<Record<string, string>> = { '↑': 'Up', '↓': 'Down', '←': 'Left', '→': 'Right' };

/** Keys that a field cannot send, in a row that opens below it. A command without a terminal knows only a few. */
export function KeyButtons({
  hasTerminal,
  isOff,
  onKey,
}: {
  readonly hasTerminal: boolean;
  readonly isOff: boolean;
  /** Gets the body of the request. */
  readonly onKey: (body: object) => void;
}) {
  return (
    <details class="key-buttons">
      <summary class="btn">Keys</summary>
      <ul>
        {(hasTerminal ? forTerminals : ends).map(([words, body]) => (
          <li key={words}>
            <button
              class="btn"
              type="button"
              aria-label={names[words]}
              disabled={isOff}
              onClick={() => onKey(body)}
            >
              {words}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
