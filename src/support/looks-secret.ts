/** Words between underscores in a variable's name that mark its value as a secret. */
const secretWords = new Set([
  'TOKENS',
  'SECRETS',
  'PASSWORDS',
  'PASS',
  'SSHPASS',
  'CREDENTIAL',
  'CREDENTIALS',
  'PAT',
  'JWT',
]);

/** Word endings that mark a secret: PGPASSWORD, authToken. */
const secretEndings = ['TOKEN', 'SECRET', 'PASSWORD', 'PASSWD', 'PASSPHRASE', 'APIKEY'];

/** Words that mark a secret only at the end of a longer name: OPENAI_API_KEY, MYSQL_PWD, REDISCLI_AUTH; not PWD, SSH_AUTH_SOCK. */
const secretLastWords = new Set(['KEY', 'PWD', 'AUTH']);

/** True for names such as GITHUB_TOKEN, DB_PASSWORD, AWS_SECRET_ACCESS_KEY or OPENAI_API_KEY. */
export function looksSecret(name: string): boolean {
  const words = name.toUpperCase().split('_');
  return (
    words.some((word) => secretWords.has(word) || secretEndings.some((ending) => word.endsWith(ending))) ||
    (words.length > 1 && secretLastWords.has(words.at(-1) ?? ''))
  );
}

const proxyName = /^(?:https?|ftp|all)_proxy$/i;
// `postgres://user:password@host/db`; the quantifiers exclude each other's characters, so matching takes linear time.
const urlWithPassword = /:\/\/[^\s/:@]*:[^\s/@]+@/;
// `Server=db;User=sa;Password=x`, `host=db password=x`, `AccountKey=x`, and `mysql://db?password=x`.
const settingWithPassword =
  /(?:^|[;?&\s])(?:password|passwd|pwd|accountkey|sharedaccesskey|sharedaccesssignature)\s?=\s?[^\s;&]/i;

/**
 * True for a value with a password in a URL or connection string, such as that of DATABASE_URL. Proxy variables are exempt, because without
 * them programs behind a proxy reach nothing.
 */
export function containsPassword(name: string, value: string): boolean {
  if (proxyName.test(name)) return false;
  return urlWithPassword.test(value) || settingWithPassword.test(value);
}
