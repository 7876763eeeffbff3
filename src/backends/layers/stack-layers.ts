import type { Mask } from '../../audit/redact.ts';
import type { Backend } from '../../contract/backend.ts';
import type { Recordings } from '../../recordings/recordings.ts';
import { hideTypedSecrets, maskOutput } from './mask-output.ts';
import { recordOutput } from './record-output.ts';

/** The optional layers; `hideTypedSecrets` is always there. */
export interface LayerOptions {
  /** Masks secrets in every `read`; output is not masked by default. */
  readonly mask?: Mask | undefined;
  readonly recordings?: Recordings | undefined;
}

/** Wraps a backend so that `read` masks before `recordOutput` records: recordings have no secrets either. */
export function stackLayers(backend: Backend, { mask, recordings }: LayerOptions): Backend {
  const hidden = hideTypedSecrets(backend);
  const masked = mask ? maskOutput(hidden, () => mask) : hidden;
  return recordings ? recordOutput(masked, recordings) : masked;
}
