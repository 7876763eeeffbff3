import type { ClientMachine, Scope } from './clients.ts';
import { openConfigFile } from './config-file.ts';
import { type Consent, type ConsentLook, consentsFor } from './consents.ts';

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
  const look: ConsentLook = { scope, machine, path, read };
  return consentsFor(client, scope).flatMap((one) =>
    isGiven(one, look) ? [] : [{ without: one.without, give: one.give(look) }],
  );
}

// A file that cannot be parsed shows nothing; `nacre init` reports it where it is edited.
function isGiven(consent: Consent, look: ConsentLook): boolean {
  try {
    return consent.isGiven(look);
  } catch {
    return false;
  }
}

function read(path: string): string {
  return openConfigFile(path).text;
}
