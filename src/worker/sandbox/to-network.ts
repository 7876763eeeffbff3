import type { Enforcement, Isolation } from '../../contract/isolation.ts';

/** The network access of a command; in the strict sandbox no setting allows all of it. */
export function toNetwork({ sandbox, network, networkAllow }: Isolation): Enforcement['network'] {
  if (sandbox === 'off' || (sandbox === 'workspace' && network === 'on')) return 'on';
  return networkAllow.length > 0 ? 'filtered' : 'off';
}
