import { NacreError } from '../contract/failure.ts';

/** Checks a TCP port; throws an error that names the argument. */
export function toPort(name: string, value: unknown): number {
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new NacreError(
    'invalid_request',
    `${name} must be a port from 1 to 65535, not ${JSON.stringify(value)}.`,
    {
      hint: 'nacre port lists the ports that sandboxed commands listen on.',
    },
  );
}
