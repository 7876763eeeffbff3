import { createValueMask, type Mask } from '../../audit/redact.ts';
import type { Backend } from '../../contract/backend.ts';
import { maskBackend } from './mask-output.ts';

/**
 * A backend whose commands show nobody what was typed into them as a secret, neither those who read nor a recording: a
 * terminal may echo it, a program may repeat it.
 */
export function hideTyped(backend: Backend): Backend {
  const typed = new Map<string, { readonly words: ReadonlySet<string>; readonly mask: Mask }>();
  const masked = maskBackend(backend, (id) => typed.get(id)?.mask);
  return {
    ...masked,
    write(id, data, options) {
      if (options?.hide && options.hide.length > 0) {
        const words = new Set([...(typed.get(id)?.words ?? []), ...options.hide]);
        typed.set(id, { words, mask: createValueMask([...words]) });
      }
      return backend.write(id, data, options);
    },
    dispose(id) {
      typed.delete(id);
      return backend.dispose(id);
    },
  };
}
