/** Texts with what was typed as a secret made unreadable: a terminal may echo it, a program may repeat it. */
export function hideSecrets(text: string, secrets: Iterable<string>): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, hidden);
  return shown;
}

/** The part of a typed text that has to stay secret; undefined where hiding it would blot out everything. */
export function toSecret(text: string): string | undefined {
  const words = text.replace(/[\r\n]+$/, '');
  return words.length < 2 ? undefined : words;
}

const hidden = '[secret]';
