import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { isAddressListed, isHostAllowed, type Target } from './host-rules.ts';

/** Finds the addresses of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The addresses that may be reached, or why there are none. */
export type Resolution =
  | { readonly addresses: readonly string[] }
  | { readonly refused: 'not_listed' | 'private' }
  | { readonly failed: string };

/**
 * Decides on a target before anything is sent to it:
 * 1. the name, or the address that stands in its place, must be listed,
 * 2. it is resolved here, and the connection then goes to what was found, so that nobody can answer otherwise later,
 * 3. a public name that leads to a private address is refused, unless that address is listed too.
 */
export async function resolveTarget(
  target: Target,
  allow: readonly string[],
  resolve: Resolve = resolveName,
): Promise<Resolution> {
  const { host, port } = target;
  if (!isHostAllowed(host, port, allow)) return { refused: 'not_listed' };
  if (isIP(host) !== 0) return { addresses: [host] };
  try {
    const found = await resolve(host);
    const addresses = found.filter((one) => mayLeadTo(host, one) || isAddressListed(one, port, allow));
    if (found.length === 0) return { failed: 'it has no address' };
    return addresses.length > 0 ? { addresses } : { refused: 'private' };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether an address belongs to this machine, a private network or nobody. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  return family === 0 || unroutable.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function mayLeadTo(host: string, address: string): boolean {
  if (isLoopbackName(host)) return loopback.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return !isPrivateAddress(address);
}

// These names mean this machine and nothing else: who lists them means just that, and no server is asked.
function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

async function resolveName(host: string): Promise<readonly string[]> {
  if (isLoopbackName(host)) return ['127.0.0.1', '::1'];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const loopback = toBlockList(['127.0.0.0/8', '::1/128']);
// What is mapped into IPv6 is looked at as IPv4 by the list itself; the other ways to write IPv4 there are all refused.
const unroutable = toBlockList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/32', '2001:db8::/32', '2002::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]);

function toBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    list.addSubnet(network, Number(prefix), isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
