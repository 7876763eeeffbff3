import { isIP } from 'node:net';

/** Somewhere a command wants to go; the host as `toTarget` normalises it. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

// A name that is listed without a port stands for the web.
const usualPorts = [80, 443];

/** Whether a list of hosts lets a command reach one of them at a port. */
export function isHostAllowed(host: string, port: number, allow: readonly string[]): boolean {
  const wanted = toPlainHost(host);
  return wanted !== '' && allow.map(toRule).some((rule) => fitsPort(rule, port) && fitsHost(rule, wanted));
}

/** Whether an address itself is listed, for names that lead into a private network. */
export function isAddressListed(address: string, port: number, allow: readonly string[]): boolean {
  return isIP(address) !== 0 && isHostAllowed(address, port, allow);
}

/** A host in its one spelling: lower case, without brackets and the final dot; addresses in their shortest form. */
export function toPlainHost(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 6) return shortest(bare);
  const name = bare.replace(/\.$/, '');
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name) ? name : '';
}

interface Rule {
  readonly host: string;
  /** True for `*.host`. */
  readonly below: boolean;
  readonly port: number | 'any' | undefined;
}

function toRule(entry: string): Rule {
  const text = entry.trim();
  // Without brackets, the colons of an IPv6 address are its own.
  const [, host = '', port] =
    isIP(text) === 6 ? [text, text] : (/^(.*?)(?::(\d+|\*))?$/.exec(text) ?? [text, '']);
  const below = host.startsWith('*.');
  return { host: toPlainHost(below ? host.slice(2) : host), below, port: toPort(port) };
}

function toPort(text: string | undefined): Rule['port'] {
  if (text === undefined) return undefined;
  return text === '*' ? 'any' : Number(text);
}

function fitsPort({ port }: Rule, wanted: number): boolean {
  if (port === 'any') return true;
  return port === undefined ? usualPorts.includes(wanted) : port === wanted;
}

function fitsHost({ host, below }: Rule, wanted: string): boolean {
  if (host === '') return false;
  return below ? isIP(wanted) === 0 && wanted.endsWith(`.${host}`) : wanted === host;
}

function shortest(address: string): string {
  // An address with a zone (fe80::1%eth0) belongs to one machine's interface; nothing that is listed can mean it.
  return URL.canParse(`http://[${address}]/`) ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : '';
}
