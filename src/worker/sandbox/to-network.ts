import type { Enforcement, Isolation } from '../../contract/isolation.ts';

/** What a command has of the network under an isolation; in the strictest no setting opens all of it. */
export function toNetwork({ sandbox, network, networkAllow }: Isolation): Enforcement['network'] {
  if (sandbox === 'off' || (sandbox === 'workspace' && network === 'on')) return 'on';
  return networkAllow.length > 0 ? 'filtered' : 'off';
}
