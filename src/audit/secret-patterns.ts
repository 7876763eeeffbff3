// What secrets look like. Each pattern keeps in its first group what stands before the secret; what it has no group for is
// hidden whole. All are linear: what follows a repetition can only fail where the repetition ends, and no match can begin
// at every place that another one has to read through.
import { looksSecret } from '../support/looks-secret.ts';

// A word of a shell: quoted texts with what is escaped in them, substitutions, and whatever reaches to the next blank. After
// its first piece only quoted texts without blanks go on with it: the quote may be the end of one that began before the
// name, and a record that hides the rest of a command would be worth little.
const quoted = String.raw`"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'\\'')*'|\$'(?:[^'\\]|\\[\s\S])*'`;
const substituted = '\\$\\([^()]*\\)|`[^`]*`';
const plain = String.raw`(?:\\[\s\S]|[^\s"'\\;&|])+`;
const goesOn = String.raw`(?:"[^"\s;&|]*"|\$?'[^'\s;&|]*'|(?<=["'])[\w$/+=.%-]+)*`;
const value = `(?:${quoted}|${substituted}|["']?${plain})${goesOn}`;

// Names that say it by themselves, with whatever they go on with,
const nameWords =
  'TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API[_-]?KEY|ACCESS[_-]KEY|PRIVATE[_-]KEY';
const named = String.raw`(?:${nameWords})\w{0,40}`;
// and words that say it at the end of a name: AccountKey, DB_PASS and MYSQL_PWD; not monkey, bypass or PWD.
const ending =
  '(?:KEY|Key|(?<![a-z])key|(?<![A-Za-z])(?:PASS|pass|pwd)|[a-z]Pass|_(?:PWD|AUTH|auth|PAT)|JWT|jwt|[Ss]ignature|[?&]sig)';
const assigns = String.raw`[\\"']{0,3}\s{0,3}(?:[+:]?=|<<<)\s{0,3}`;
const tells = String.raw`[\\"']{0,3}\s{0,3}:\s{0,3}`;

const flagWords =
  'token|secret|password|passwd|passphrase|credentials?|(?:api|access|private|secret)[-_]?key|auth|bearer|(?:store|key)?pass|passin|passout|pwd|key';
const flag = `--?(?:[a-z0-9]{1,20}[-_]){0,3}(?:${flagWords})`;
const gap = String.raw`(?:=|(?:[ \t]|\\\r?\n){1,20})`;

// A count is no secret: --key 2.
const number = String.raw`\d{1,3}(?:\s|$)`;

/** What a secret looks like, for texts in which it may stand anywhere. */
export const secretPatterns: readonly RegExp[] = [
  // Shapes that are secrets wherever they stand.
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|sk-|[rs]k_(?:live|test)_|whsec_|npm_|pypi-|hf_|dop_v1_|shp(?:at|ss)_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
  /(\bhooks\.slack\.com\/services\/)[A-Za-z0-9/]+/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  // NAME=value and NAME: value, where the name says so.
  new RegExp(`(${named}(?:${assigns}|${tells}))${value}`, 'gi'),
  new RegExp(`(${ending}${assigns})(?!${number})${value}`, 'g'),
  // --password value and its kin; what is a number is none.
  new RegExp(String.raw`((?:^|[\s"'])${flag}${gap})(?!${number})${value}`, 'gi'),
  // What programs take in ways of their own.
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
  // -u user:password, headers, cookies and addresses.
  /((?:^|\s)(?:-[uU][= ]?|--(?:proxy-)?user[= ])\s{0,3}["']?[^\s:"'/]{1,100}:)(?!\d+\b|\/\/)[^\s"']+/g,
  /(\bAuthorization\s{0,3}:\s{0,3}(?:(?:Bearer|Basic|Token|ApiKey|Digest)\s{1,3})?)[^\s"']+/gi,
  /(\b(?:Set-)?Cookie\s{0,3}:\s{0,3})[^"'\r\n]+/gi,
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,100}:)[^\s/"']{1,256}(?=@)/gi,
  /(\bhttps?:\/\/)(?![A-Za-z._-]{1,40}@)[^\s/:@"']{1,256}(?=@)/gi,
];

/** A flag after which a secret stands as an argument of its own. */
export const secretFlag = new RegExp(`^${flag}$`, 'i');

/** The beginning of an argument that assigns a secret, which then has all the rest of it. */
export const secretAssignments: readonly RegExp[] = [
  new RegExp(String.raw`^-{0,2}[\w.-]{0,100}?${named}=`, 'i'),
  new RegExp(String.raw`^-{0,2}[\w.-]{0,100}?${ending}=(?!${number})`),
];

/** Whether the name of a variable says that its value is a secret. */
export function namesSecret(name: string): boolean {
  return looksSecret(name) || secretAssignments.some((pattern) => pattern.test(`${name}=x`));
}
