import { hidden, type Redact } from './redact.ts';

/** Hides secrets in what is typed into a command piece by piece. */
export interface RedactInput {
  (id: string, text: string): string;
  forget(id: string): void;
}

const keptChars = 512;

/** A secret may be typed in two pieces: each is judged together with what came before it. */
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
