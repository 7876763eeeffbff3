import type { ClientMachine, Scope } from './clients.ts';
import { openConfigFile } from './config-file.ts';
import { type Consent, type ConsentContext, consentsFor } from './consents.ts';

/** A consent that is missing in a client's files. */
export interface MissingConsent {
  readonly without: string;
  readonly give: string;
}

/** The consents that a client still requires from its user for the entry in `path`. */
export function findMissingConsents(
  client: string,
  scope: Scope,
  machine: ClientMachine,
  path: string,
): readonly MissingConsent[] {
  const context: ConsentContext = { scope, machine, path, read };
  return consentsFor(client, scope).flatMap((one) =>
    isGiven(one, context) ? [] : [{ without: one.without, give: one.give(context) }],
  );
}

// A file that cannot be parsed shows no consent; `nacre init` reports the error when it edits the file.
function isGiven(consent: Consent, context: ConsentContext): boolean {
  try {
    return consent.isGiven(context);
  } catch {
    return false;
  }
}

function read(path: string): string {
  return openConfigFile(path).text;
}
