import { secretAssignments, secretFlag, secretPatterns } from './secret-patterns.ts';

/** Hides secrets in a text that is about to be written down. */
export type Redact = (text: string) => string;

/** What stands in place of a secret. */
export const hidden = '[redacted]';

const shortestValue = 6;

function toValues(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= shortestValue)
    .sort((a, b) => b.length - a.length);
}

/** Makes the redaction; `secrets` are values (of variables that commands do not get) to hide wherever they appear. */
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

// Records say the same again and again: the client, the directory, the reason.
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

// Without a group the second argument of a replacer is the place of the match.
function toKept(group: unknown): string {
  return typeof group === 'string' ? group : '';
}

/** Hides secrets in arguments, also those that are told by the arguments before them. */
export function redactArguments(argv: readonly string[], redact: Redact): readonly string[] {
  return argv.map((argument, index) => {
    if (secretFlag.test(argv[index - 1] ?? '')) return hidden;
    const [name] = secretAssignments.flatMap((pattern) => pattern.exec(argument) ?? []);
    if (name !== undefined) return `${name}${hidden}`;
    return redactAfter(argv.slice(Math.max(0, index - toldBy), index).join(' '), argument, redact);
  });
}

// As many arguments before one as tell what it is: `aws configure set NAME VALUE`.
const toldBy = 5;
const longestBefore = 512;

function redactAfter(before: string, argument: string, redact: Redact): string {
  const alone = redact(argument);
  const told = redact(before.slice(-longestBefore));
  const together = redact(`${before.slice(-longestBefore)} ${argument}`);
  if (together === `${told} ${alone}`) return alone;
  const shown = together.startsWith(`${told} `) ? together.slice(told.length + 1) : '';
  // An argument is one word, however many blanks it has.
  return `${shown.slice(0, Math.max(0, shown.indexOf(hidden)))}${hidden}`;
}

/** Hides secrets without changing where anything stands: each of their characters becomes an asterisk. */
export interface Mask {
  /** Takes and gives text with one character a byte. */
  hide(bytes: string): string;
  /** How many characters at the end may be the beginning of a secret of which the rest is still to come. */
  openEnd(bytes: string): number;
}

const longestOpenEnd = 8_192;

/** Makes the mask for output; `secrets` are values as for `createRedact`. */
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
      const word = /\S*$/.exec(bytes.slice(-longestOpenEnd))?.[0].length ?? 0;
      const most = Math.max(word, ...values.map((value) => beginningAtEnd(bytes, value)));
      return most >= longestOpenEnd ? 0 : most;
    },
  };
}

/** Makes the mask for output that hides these values alone, and holds back no more than the beginning of one. */
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
