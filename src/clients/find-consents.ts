import type { ClientMachine, Scope } from './clients.ts';
import { openConfigFile } from './config-file.ts';
import { type Consent, type ConsentContext, consentsFor } from './consents.ts';

/** A consent that a client's files do not show. */
export interface MissingConsent {
  readonly without: string;
  readonly give: string;
}

/** The consents that a client still asks of its user for the entry in `path`. */
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

// A file that cannot be parsed shows nothing; `nacre init` reports it where it is edited.
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
