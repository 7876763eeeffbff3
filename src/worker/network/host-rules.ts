import { isIP } from 'node:net';

/** A host and port that a command connects to; the host is normalised by `toTarget`. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

// An entry of `network_allow` without a port allows HTTP and HTTPS.
const defaultPorts = [80, 443];

/** True if `network_allow` allows a host and port. */
export function isHostAllowed(host: string, port: number, allow: readonly string[]): boolean {
  const wanted = toPlainHost(host);
  return (
    wanted !== '' && allow.map(toRule).some((rule) => matchesPort(rule, port) && matchesHost(rule, wanted))
  );
}

/** True if an address itself is listed, which names that resolve to private addresses need. */
export function isAddressListed(address: string, port: number, allow: readonly string[]): boolean {
  return isIP(address) !== 0 && isHostAllowed(address, port, allow);
}

/** True if `network_allow` lists a host itself, or one below it: `no_proxy` of many programs covers both. */
export function namesHost(allow: readonly string[], host: string): boolean {
  return allow.map(toRule).some((rule) => rule.host === host || rule.host.endsWith(`.${host}`));
}

/** Normalises a host: lower case, no brackets, no final dot, IPv6 in its shortest form; empty if it is not valid. */
export function toPlainHost(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 6) return shortest(bare);
  const name = bare.replace(/\.$/, '');
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name) ? name : '';
}

interface Rule {
  readonly host: string;
  /** True for `*.host`. */
  readonly includesSubdomains: boolean;
  readonly port: number | 'any' | undefined;
}

function toRule(entry: string): Rule {
  const text = entry.trim();
  // The colons of an IPv6 address without brackets do not separate a port.
  const [, host = '', port] =
    isIP(text) === 6 ? [text, text] : (/^(.*?)(?::(\d+|\*))?$/.exec(text) ?? [text, '']);
  const includesSubdomains = host.startsWith('*.');
  return {
    host: toPlainHost(includesSubdomains ? host.slice(2) : host),
    includesSubdomains,
    port: toPort(port),
  };
}

function toPort(text: string | undefined): Rule['port'] {
  if (text === undefined) return undefined;
  return text === '*' ? 'any' : Number(text);
}

function matchesPort({ port }: Rule, wanted: number): boolean {
  if (port === 'any') return true;
  return port === undefined ? defaultPorts.includes(wanted) : port === wanted;
}

function matchesHost({ host, includesSubdomains }: Rule, wanted: string): boolean {
  if (host === '') return false;
  return includesSubdomains ? isIP(wanted) === 0 && wanted.endsWith(`.${host}`) : wanted === host;
}

function shortest(address: string): string {
  // An address with a zone (fe80::1%eth0) is bound to one interface and matches no entry.
  return URL.canParse(`http://[${address}]/`) ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : '';
}
