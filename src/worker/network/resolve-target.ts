import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { isAddressListed, isHostAllowed, type Target } from './host-rules.ts';

/** Resolves a name to its addresses; `dns.lookup` by default. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The addresses to connect to, or the reason why there are none. */
export type Resolution =
  | { readonly addresses: readonly string[] }
  | { readonly refused: 'not_listed' | 'private' }
  | { readonly failed: string };

/**
 * Decides on a target before anything is sent to it:
 * 1. the name, or the address given instead of one, must be listed,
 * 2. the name is resolved once, and the connection uses these addresses, so that a later DNS answer cannot redirect it,
 * 3. a public name that resolves to a private address is refused, unless that address is listed as well.
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
    const addresses = found.filter((one) => mayResolveTo(host, one) || isAddressListed(one, port, allow));
    if (found.length === 0) return { failed: 'the name has no address' };
    return addresses.length > 0 ? { addresses } : { refused: 'private' };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

/** True for an address of this machine, of a private network, or of a reserved range. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  return family === 0 || unroutable.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function mayResolveTo(host: string, address: string): boolean {
  if (isLoopbackName(host)) return loopback.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return !isPrivateAddress(address);
}

// RFC 6761: these names always mean this machine, and DNS is not asked for them.
function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

async function resolveName(host: string): Promise<readonly string[]> {
  if (isLoopbackName(host)) return ['127.0.0.1', '::1'];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const loopback = toBlockList(['127.0.0.0/8', '::1/128']);
// BlockList checks IPv4-mapped IPv6 addresses as IPv4; other IPv6 ranges that embed IPv4 addresses are all listed.
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
