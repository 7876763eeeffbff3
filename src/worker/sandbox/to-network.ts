import type { Enforcement, Isolation } from '../../contract/isolation.ts';

/** The network access of a command; with `sandbox: strict` the setting `network: on` has no effect. */
export function toNetwork({ sandbox, network, networkAllow }: Isolation): Enforcement['network'] {
  if (sandbox === 'off' || (sandbox === 'workspace' && network === 'on')) return 'on';
  return networkAllow.length > 0 ? 'filtered' : 'off';
}
