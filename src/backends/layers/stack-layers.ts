import type { Mask } from '../../audit/redact.ts';
import type { Backend } from '../../contract/backend.ts';
import type { Recordings } from '../../recordings/recordings.ts';
import { hideTypedSecrets, maskOutput } from './mask-output.ts';
import { recordOutput } from './record-output.ts';

/** The optional layers; `hideTypedSecrets` is always there. */
export interface LayerOptions {
  /** Masks secrets in all output; output stays as it is without one. */
  readonly mask?: Mask | undefined;
  /** Records all output; nothing is recorded by default. */
  readonly recordings?: Recordings | undefined;
}

/** Wraps a backend so that every read of output is masked first and recorded last: recordings have no secrets either. */
export function stackLayers(backend: Backend, { mask, recordings }: LayerOptions): Backend {
  const hidden = hideTypedSecrets(backend);
  const masked = mask ? maskOutput(hidden, () => mask) : hidden;
  return recordings ? recordOutput(masked, recordings) : masked;
}
