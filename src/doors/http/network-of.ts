import { isIPv6 } from 'node:net';
import { isLoopback } from './sites.ts';

/**
 * The network that somebody calls from, as far as one caller can choose its address there: all addresses of this machine,
 * or the 64 bits that a provider gives away.
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
