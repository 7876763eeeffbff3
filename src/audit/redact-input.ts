import { hidden, type Redact } from './redact.ts';

/** Redacts text that is typed into a command (`id`) in several pieces. */
export interface RedactInput {
  (id: string, text: string): string;
  forget(id: string): void;
}

const keptChars = 512;

/** Creates a `RedactInput`. A secret may be split over two pieces, so each is checked together with the `keptChars` before it. */
export function createRedactInput(redact: Redact): RedactInput {
  const typed = new Map<string, string>();
  const redactInput = (id: string, text: string) => {
    const before = typed.get(id) ?? '';
    typed.set(id, (before + text).slice(-keptChars));
    const alone = redact(text);
    return redact(before + text) === redact(before) + alone ? alone : hidden;
  };
  return Object.assign(redactInput, { forget: (id: string) => void typed.delete(id) });
}
