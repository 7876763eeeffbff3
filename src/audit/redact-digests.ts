// Redacts the secrets of another machine by their digests; this machine never receives their values.
import type { SecretDigests } from '../contract/secret-digests.ts';
import { createSecretFinder, type SecretRange } from '../support/secret-digests.ts';
import { hidden, type Mask, type Redact } from './redact.ts';
import type { RedactFor } from './redact-machines.ts';

/** Creates a redactor that hides the secrets of another machine. */
export function createDigestRedact(digests: SecretDigests): Redact {
  const finder = createSecretFinder(digests);
  return (text) => {
    const bytes = Buffer.from(text).toString('latin1');
    const ranges = finder.find(bytes);
    if (ranges.length === 0) return text;
    return Buffer.from(
      replaceRanges(bytes, ranges, () => hidden),
      'latin1',
    ).toString();
  };
}

/** Creates a redactor for each machine from the latest digests that it has sent. */
export function createRedactFor(digestsOf: (machine: string) => SecretDigests | undefined): RedactFor {
  const known = new WeakMap<SecretDigests, Redact>();
  return (machine) => {
    const digests = digestsOf(machine);
    if (!digests || digests.secrets.length === 0) return undefined;
    const redact = known.get(digests) ?? createDigestRedact(digests);
    known.set(digests, redact);
    return redact;
  };
}

/** Creates a mask for the secrets of another machine. */
export function createDigestMask(digests: SecretDigests): Mask {
  const finder = createSecretFinder(digests);
  return {
    hide: (bytes) => replaceRanges(bytes, finder.find(bytes), (count) => '*'.repeat(count)),
    openEnd: (bytes) => finder.openEnd(bytes),
  };
}

function replaceRanges(
  bytes: string,
  ranges: readonly SecretRange[],
  replace: (count: number) => string,
): string {
  let [clean, at] = ['', 0];
  for (const [from, to] of ranges) {
    clean += bytes.slice(at, from) + replace(to - from);
    at = to;
  }
  return clean + bytes.slice(at);
}
