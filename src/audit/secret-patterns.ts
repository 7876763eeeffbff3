// Regular expressions that match secrets. The first group of a pattern is the text before the secret, which is kept;
// without a group the whole match is hidden. All of them run in linear time: no repetition is followed by a part that
// can fail at each of its positions, and no match can start at every position that another match scans.
import { looksSecret } from '../support/looks-secret.ts';

// `value` matches a shell word: quoted text with escapes, substitutions, and everything up to the next blank. After the first
// part it continues only with quoted text without blanks (`continued`): a quote may close one that was opened before the
// name, and matching to the next quote would hide the rest of the command.
const quoted = String.raw`"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'\\'')*'|\$'(?:[^'\\]|\\[\s\S])*'`;
const substituted = '\\$\\([^()]*\\)|`[^`]*`';
const plain = String.raw`(?:\\[\s\S]|[^\s"'\\;&|])+`;
const continued = String.raw`(?:"[^"\s;&|]*"|\$?'[^'\s;&|]*'|(?<=["'])[\w$/+=.%-]+)*`;
const value = `(?:${quoted}|${substituted}|["']?${plain})${continued}`;

// Words that mark a secret anywhere in a name,
const nameWords =
  'TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API[_-]?KEY|ACCESS[_-]KEY|PRIVATE[_-]KEY';
const named = String.raw`(?:${nameWords})\w{0,40}`;
// and words that do so only at its end: AccountKey, DB_PASS and MYSQL_PWD; not monkey, bypass or PWD.
const ending =
  '(?:KEY|Key|(?<![a-z])key|(?<![A-Za-z])(?:PASS|pass|pwd)|[a-z]Pass|_(?:PWD|AUTH|auth|PAT)|JWT|jwt|[Ss]ignature|[?&]sig)';
const assigns = String.raw`[\\"']{0,3}\s{0,3}(?:[+:]?=|<<<)\s{0,3}`;
const colon = String.raw`[\\"']{0,3}\s{0,3}:\s{0,3}`;

const flagWords =
  'token|secret|password|passwd|passphrase|credentials?|(?:api|access|private|secret)[-_]?key|auth|bearer|(?:store|key)?pass|passin|passout|pwd|key';
const flag = `--?(?:[a-z0-9]{1,20}[-_]){0,3}(?:${flagWords})`;
const gap = String.raw`(?:=|(?:[ \t]|\\\r?\n){1,20})`;

// A small number is not a secret: `sort --key 2`.
const number = String.raw`\d{1,3}(?:\s|$)`;

/** Patterns that match secrets at any position of a text. */
export const secretPatterns: readonly RegExp[] = [
  // Token formats of well-known services.
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|sk-|[rs]k_(?:live|test)_|whsec_|npm_|pypi-|hf_|dop_v1_|shp(?:at|ss)_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
  /(\bhooks\.slack\.com\/services\/)[A-Za-z0-9/]+/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  // `NAME=value` and `NAME: value` with a name that marks a secret.
  new RegExp(`(${named}(?:${assigns}|${colon}))${value}`, 'gi'),
  new RegExp(`(${ending}${assigns})(?!${number})${value}`, 'g'),
  // --password VALUE and similar flags, unless the value is a small number.
  new RegExp(String.raw`((?:^|[\s"'])${flag}${gap})(?!${number})${value}`, 'gi'),
  // Program-specific syntax, such as `mysql -pVALUE`.
  new RegExp(String.raw`(\bsshpass\s{1,3}-p\s{0,3})${value}`, 'g'),
  new RegExp(String.raw`(\b(?:mysql|mariadb)[a-z]{0,12}\b[^\n;&|]{0,80}?\s-p)${value}`, 'g'),
  new RegExp(
    String.raw`(\b(?:docker|podman|helm)\s{1,3}(?:registry\s{1,3})?login\b[^\n;&|]{0,80}?\s-p${gap})${value}`,
    'g',
  ),
  new RegExp(String.raw`(\b(?:7z[ar]?|rar)\s[^\n;&|]{0,80}?\s?-p)${value}`, 'g'),
  new RegExp(String.raw`(\bzip\s[^\n;&|]{0,80}?\s?-P\s{0,3})${value}`, 'g'),
  new RegExp(String.raw`(\bvault\s{1,3}login\s{1,3})(?!-)${value}`, 'g'),
  new RegExp(String.raw`((?:^|[\s"'=])pass:)${value}`, 'g'),
  new RegExp(String.raw`((?:aws_secret_access_key|aws_session_token|_authToken)[ \t]{1,3})${value}`, 'g'),
  // `-u user:password`, headers, cookies and URLs.
  /((?:^|\s)(?:-[uU][= ]?|--(?:proxy-)?user[= ])\s{0,3}["']?[^\s:"'/]{1,100}:)(?!\d+\b|\/\/)[^\s"']+/g,
  /(\bAuthorization\s{0,3}:\s{0,3}(?:(?:Bearer|Basic|Token|ApiKey|Digest)\s{1,3})?)[^\s"']+/gi,
  /(\b(?:Set-)?Cookie\s{0,3}:\s{0,3})[^"'\r\n]+/gi,
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,100}:)[^\s/"']{1,256}(?=@)/gi,
  /(\bhttps?:\/\/)(?![A-Za-z._-]{1,40}@)[^\s/:@"']{1,256}(?=@)/gi,
];

/** Matches a flag whose value, a secret, is the next argument. */
export const secretFlag = new RegExp(`^${flag}$`, 'i');

/** Matches the `NAME=` at the beginning of an argument whose rest is a secret. */
export const secretAssignments: readonly RegExp[] = [
  new RegExp(String.raw`^-{0,2}[\w.-]{0,100}?${named}=`, 'i'),
  new RegExp(String.raw`^-{0,2}[\w.-]{0,100}?${ending}=(?!${number})`),
];

/** Whether the name of a variable suggests that its value is a secret. */
export function namesSecret(name: string): boolean {
  return looksSecret(name) || secretAssignments.some((pattern) => pattern.test(`${name}=x`));
}
