import { shortestSecret } from '../contract/secret-digests.ts';
import { lastBlank } from '../support/last-blank.ts';
import { secretAssignments, secretFlag, secretPatterns } from './secret-patterns.ts';

/** Replaces the secrets in a text with `hidden`, before the text is recorded. */
export type Redact = (text: string) => string;

/** The replacement for a secret. */
export const hidden = '[redacted]';

function toValues(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
}

/** Creates a redactor that hides `secretPatterns` and `secrets`, the values of variables withheld from commands. */
export function createRedact(secrets: readonly string[]): Redact {
  const values = toValues(secrets);
  return remembering((text) => {
    let clean = text;
    for (const secret of values) clean = clean.replaceAll(secret, hidden);
    for (const pattern of secretPatterns)
      clean = clean.replace(pattern, (_, kept) => `${toKept(kept)}${hidden}`);
    return clean;
  });
}

const rememberedChars = 256;
const rememberedTexts = 128;

// Caches results, because records repeat the same client, directory and reason.
function remembering(redact: Redact): Redact {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > rememberedChars) return redact(text);
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const clean = redact(text);
    if (known.size >= rememberedTexts) known.clear();
    known.set(text, clean);
    return clean;
  };
}

// For a pattern without a group, the second argument of a `replace` callback is the offset of the match.
function toKept(group: unknown): string {
  return typeof group === 'string' ? group : '';
}

/** Redacts arguments, including those that only the preceding arguments identify as secrets. */
export function redactArguments(argv: readonly string[], redact: Redact): readonly string[] {
  return argv.map((argument, index) => {
    if (secretFlag.test(argv[index - 1] ?? '')) return hidden;
    const [name] = secretAssignments.flatMap((pattern) => pattern.exec(argument) ?? []);
    if (name !== undefined) return `${name}${hidden}`;
    return redactAfter(argv.slice(Math.max(0, index - contextArguments), index).join(' '), argument, redact);
  });
}

// The number of preceding arguments that can identify a secret: `aws configure set NAME VALUE`.
const contextArguments = 5;
const longestBefore = 512;

function redactAfter(before: string, argument: string, redact: Redact): string {
  const alone = redact(argument);
  const context = redact(before.slice(-longestBefore));
  const together = redact(`${before.slice(-longestBefore)} ${argument}`);
  if (together === `${context} ${alone}`) return alone;
  const shown = together.startsWith(`${context} `) ? together.slice(context.length + 1) : '';
  // Hide the rest of the argument even if it has blanks: it is one word, but the patterns end at a blank.
  return `${shown.slice(0, Math.max(0, shown.indexOf(hidden)))}${hidden}`;
}

/** Masks secrets in output without changing positions: each of their bytes becomes an asterisk. */
export interface Mask {
  /** Masks text in `latin1`, which has one character per byte. */
  hide(bytes: string): string;
  /** The number of characters at the end that may be the beginning of a secret. */
  openEnd(bytes: string): number;
}

const longestOpenEnd = 8_192;

/** Creates a mask for `secretPatterns` and these values, as `createRedact` does. */
export function createMask(secrets: readonly string[]): Mask {
  const values = toValues(secrets).map((value) => Buffer.from(value).toString('latin1'));
  const stars = (count: number) => '*'.repeat(count);
  return {
    hide(bytes) {
      let clean = bytes;
      for (const value of values) clean = clean.replaceAll(value, stars(value.length));
      for (const pattern of secretPatterns)
        clean = clean.replace(pattern, (match, kept) => {
          const before = toKept(kept);
          return before + stars(match.length - before.length);
        });
      return clean;
    },
    openEnd(bytes) {
      const end = bytes.slice(-longestOpenEnd);
      const word = end.length - 1 - lastBlank(end);
      const most = Math.max(word, ...values.map((value) => beginningAtEnd(bytes, value)));
      return most >= longestOpenEnd ? 0 : most;
    },
  };
}

/** Creates a mask for these values only; its `openEnd` withholds no more than the beginning of one. */
export function createValueMask(secrets: readonly string[]): Mask {
  const values = secrets.map((value) => Buffer.from(value).toString('latin1'));
  return {
    hide: (bytes) =>
      values.reduce((clean, value) => clean.replaceAll(value, '*'.repeat(value.length)), bytes),
    openEnd: (bytes) => Math.max(0, ...values.map((value) => beginningAtEnd(bytes, value))),
  };
}

function beginningAtEnd(text: string, value: string): number {
  for (let length = Math.min(value.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(value.slice(0, length))) return length;
  return 0;
}

/** Redacts text that is typed into a command (`id`) in several pieces. */
export interface RedactInput {
  (id: string, text: string): string;
  forget(id: string): void;
}

const keptChars = 512;

/** Creates a `RedactInput` from the redactor of each command. A secret may be split over two pieces, so each is checked together with the `keptChars` before it. */
export function createRedactInput(redactOf: (id: string) => Redact): RedactInput {
  const typed = new Map<string, string>();
  const redactInput = (id: string, text: string) => {
    const redact = redactOf(id);
    const before = typed.get(id) ?? '';
    typed.set(id, (before + text).slice(-keptChars));
    const alone = redact(text);
    return redact(before + text) === redact(before) + alone ? alone : hidden;
  };
  return Object.assign(redactInput, { forget: (id: string) => void typed.delete(id) });
}
