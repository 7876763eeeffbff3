import { isIPv6 } from 'node:net';
import { isLoopback } from '../requests/is-loopback.ts';

/**
 * The network that a failed attempt counts against: all addresses that one caller can use. That is all of loopback, or
 * the /64 prefix that a provider assigns to one customer.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (isLoopback(plain)) return 'this machine';
  return isIPv6(plain) ? toPrefix(plain) : plain;
}

function toPrefix(address: string): string {
  const [before = '', after] = address.split('::');
  const zeros = after === undefined ? [] : Array<string>(4).fill('0');
  return [...before.split(':'), ...zeros].slice(0, 4).join(':');
}
