import type { Decision } from '../../contract/decision.ts';

/** A decision about a text with secrets in it, as it may be recorded: a word of one may look like a program. */
export function hideInDecision(decision: Decision, secrets: Iterable<string>): Decision {
  const known = [...secrets];
  const isPart = ({ name }: { readonly name: string }) => known.some((secret) => secret.includes(name));
  const parts = decision.programs.filter(isPart).map(({ name }) => name);
  const reason = hideSecrets(decision.reason, [...known, ...parts]);
  const programs = decision.programs.map((one) => (isPart(one) ? { ...one, name: hidden } : one));
  return { ...decision, reason, programs };
}

/** The parts of a typed text that have to stay secret, line by line; without those that would blot out everything. */
export function toSecrets(text: string): readonly string[] {
  return text.split(/[\r\n]+/).filter((line) => line.length >= 2);
}

const hidden = '[secret]';

function hideSecrets(text: string, secrets: Iterable<string>): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, hidden);
  return shown;
}
