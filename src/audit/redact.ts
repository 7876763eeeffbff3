/** Hides secrets in a text that is about to be written down. */
export type Redact = (text: string) => string;

/** What stands in place of a secret. */
export const hidden = '[redacted]';

const nameWords =
  'TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API[_-]?KEY|ACCESS[_-]KEY|PRIVATE[_-]KEY';
const flagWords = 'token|secret|password|passwd|passphrase|credentials?|api-?key|access-key|private-key|auth';
// A quoted text, with what is escaped in it, or else what reaches to the next blank. No more than that: a record that
// hides the rest of a command would be worth little.
const value = String.raw`(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'\\'')*'|["']?(?:\\[\s\S]|[^\s"'\\;&|])+)`;
const flag = `--?(?:[a-z]{1,20}-){0,3}(?:${flagWords})`;

// Each pattern keeps what stands before the secret. All are linear: what follows a repetition can only fail where
// the repetition ends, and no match can begin at every place that another one has to read through.
const patterns: readonly (readonly [RegExp, string])[] = [
  // Shapes that are secrets wherever they stand.
  [
    /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|[rs]k_(?:live|test)_|npm_|pypi-|hf_)[A-Za-z0-9_-]{16,}/g,
    hidden,
  ],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, hidden],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, hidden],
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, hidden],
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, hidden],
  // NAME=value and NAME: value, where the name says so.
  [
    new RegExp(String.raw`((?:${nameWords})\w{0,40}[\\"']{0,3}\s{0,3}[=:]\s{0,3})${value}`, 'gi'),
    `$1${hidden}`,
  ],
  [
    new RegExp(String.raw`(\b[A-Z][A-Z0-9_]{0,60}_(?:PAT|PASS|PWD|KEY|AUTH|JWT)=)${value}`, 'g'),
    `$1${hidden}`,
  ],
  // --password value and its kin; -p is too many other things.
  [new RegExp(String.raw`((?:^|[\s"'])${flag}[= ]\s{0,3})${value}`, 'gi'), `$1${hidden}`],
  [new RegExp(String.raw`(\bsshpass\s{1,3}-p\s{0,3})${value}`, 'g'), `$1${hidden}`],
  [/(\s(?:-u|--user)[= ]\s{0,3}["']?[^\s:"']{1,100}:)(?!\d+\b|\/\/)[^\s"']+/g, `$1${hidden}`],
  [/(\bAuthorization\s{0,3}:\s{0,3}(?:(?:Bearer|Basic|Token)\s{1,3})?)[^\s"']+/gi, `$1${hidden}`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,100}:)[^\s/@"']+(?=@)/gi, `$1${hidden}`],
];

const shortestValue = 6;

function toValues(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= shortestValue)
    .sort((a, b) => b.length - a.length);
}

/** Makes the redaction; `secrets` are values (of variables that commands do not get) to hide wherever they appear. */
export function createRedact(secrets: readonly string[]): Redact {
  const values = toValues(secrets);
  return (text) => {
    let clean = text;
    for (const secret of values) clean = clean.replaceAll(secret, hidden);
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

/** Hides secrets in arguments, also those that follow their flag as an argument of their own. */
export function redactArguments(argv: readonly string[], redact: Redact): readonly string[] {
  return argv.map((argument, index) => (secretFlag.test(argv[index - 1] ?? '') ? hidden : redact(argument)));
}

const secretFlag = new RegExp(`^${flag}$`, 'i');

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
      for (const [pattern] of patterns)
        clean = clean.replace(pattern, (match, kept) => {
          const before = typeof kept === 'string' ? kept : '';
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
