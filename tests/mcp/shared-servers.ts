import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { connect, type ServerOptions } from '../support/mcp.ts';

/** A connected server. */
export type McpServer = Awaited<ReturnType<typeof connect>>;

/**
 * Returns a function that starts one server per set of options for the whole test file, instead of one per test. At the end
 * of the file all are closed, and no process may survive. Tests isolate themselves by folders, command names and sessions.
 */
export function shareServers(): (options?: ServerOptions) => Promise<McpServer> {
  const servers = new Map<string, Promise<McpServer>>();
  afterAll(async () => {
    const open = await Promise.all(servers.values());
    const left = await Promise.all(open.map((server) => server.close()));
    expect(left.flat()).toEqual([]);
  });
  return ({ era = '2025-11-25', ...rest } = {}) => {
    const options = { era, ...rest };
    const key = JSON.stringify(options);
    const server = servers.get(key) ?? connect(options);
    servers.set(key, server);
    return server;
  };
}

let lastFolder = 0;

/** Creates an empty folder below the server's directory. */
export function freshFolder({ cwd }: McpServer): string {
  lastFolder += 1;
  const folder = join(cwd, `test-${lastFolder}`);
  mkdirSync(folder);
  return folder;
}

/** Returns a duration for sleep(1) by which a test finds its own process, even if another copy of it runs. */
export function uniqueSeconds(): string {
  return `1000.${Math.floor(Math.random() * 1e9)}`;
}
