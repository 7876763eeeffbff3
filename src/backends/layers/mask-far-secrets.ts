import type { Mask } from '../../audit/redact.ts';
import { createDigestMask } from '../../audit/redact-digests.ts';
import type { Backend } from '../../contract/backend.ts';
import type { SecretDigests } from '../../contract/secret-digests.ts';
import { maskOutput } from './mask-output.ts';

/** The backend of a machine that reports its secrets. */
interface SecretsBackend extends Backend {
  secrets(): SecretDigests | undefined;
}

/** A backend that masks the secrets in the environment of its machine in the output of its commands. */
export function maskFarSecrets<B extends SecretsBackend>(backend: B): B {
  // The digests of the last answer to `hello`, so that a worker that replaces another one is covered as well.
  let [known, mask]: [SecretDigests | undefined, Mask | undefined] = [undefined, undefined];
  const maskNow = () => {
    const digests = backend.secrets();
    if (digests !== known)
      mask = digests && digests.secrets.length > 0 ? createDigestMask(digests) : undefined;
    known = digests;
    return mask;
  };
  return { ...backend, read: maskOutput(backend, maskNow).read };
}
