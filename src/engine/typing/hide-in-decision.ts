import type { Decision } from '../../contract/decision.ts';

/** Masks typed secrets in `reason` and `programs`: the parser may have read part of a secret as a program name. */
export function hideInDecision(decision: Decision, secrets: Iterable<string>): Decision {
  const known = [...secrets];
  const isPart = ({ name }: { readonly name: string }) => known.some((secret) => secret.includes(name));
  const parts = decision.programs.filter(isPart).map(({ name }) => name);
  const reason = hideSecrets(decision.reason, [...known, ...parts]);
  const programs = decision.programs.map((one) => (isPart(one) ? { ...one, name: hidden } : one));
  return { ...decision, reason, programs };
}

/** The lines of a typed secret; single characters are left out, because masking them would cover the whole output. */
export function toSecrets(text: string): readonly string[] {
  return text.split(/[\r\n]+/).filter((line) => line.length >= 2);
}

const hidden = '[secret]';

function hideSecrets(text: string, secrets: Iterable<string>): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, hidden);
  return shown;
}
