// `nacre serve`: one address for apps, agents and pages.
// 1. the token is read or made, callers and applets are found, 2. the server listens and says where,
// 3. create-app.ts answers requests, stream/ what comes over WebSockets, 4. when it is asked to end it stops taking
//    calls, gives those that run some time, ends what is left and says how many there were.
import type { Server } from 'node:http';
import { resolve } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { pause } from '../../support/pause.ts';
import type { Tool } from '../../tools/define-tool.ts';
import type { Assembly } from '../door.ts';
import { write } from '../say.ts';
import { createApplets, warnOfApplets } from './applets/applets.ts';
import type { Authenticate } from './authenticate.ts';
import { createCallers, type HttpCaller } from './callers.ts';
import { type AppParts, createApp } from './create-app.ts';
import { secure as withHeaders } from './headers.ts';
import { createHistory } from './history.ts';
import { createLine } from './line.ts';
import { answerRequests, createHttpServer, listen } from './listen.ts';
import { type CreateServer, createMcpRoute } from './mcp-route.ts';
import { createPageSessions } from './page-sessions.ts';
import { type OwnToken, readToken } from './read-token.ts';
import { createSites } from './sites.ts';
import { acceptUpgrades } from './stream/accept-upgrades.ts';
import { createKeptCommands, type KeptCommand } from './stream/kept-commands.ts';
import { serveSocket } from './stream/serve-socket.ts';

/** Makes what answers MCP for one owner of commands. */
type CreateMcpServer = (
  tools: readonly Tool[],
  version: string,
  source: Pick<Assembly, 'engine' | 'maxOutputChars'> & { readonly owner: string },
) => ReturnType<CreateServer>;

/** Serves until the process is asked to end. */
export async function serve(assembly: Assembly, createMcpServer: CreateMcpServer): Promise<number> {
  const { io, http: settings, cwd } = assembly;
  const log = (message: string) => void io.stderr.write(`nacre: ${message}\n`);
  for (const warning of assembly.warnings) log(`warning: ${warning}`);
  for (const warning of assembly.toolWarnings) log(`warning: for tools, ${warning}`);
  const token = readToken(settings, cwd);
  const { server, secure } = createHttpServer(settings, cwd);
  const port = await listen(server, settings);
  const parts = await assembleParts(assembly, { token, secure, port, log });
  for (const warning of warnOfApplets(parts.applets)) log(`warning: ${warning}`);
  const mcp = createMcpRoute(
    ({ tools, owner }) => createMcpServer(tools, assembly.version, { ...assembly, owner }),
    log,
  );
  const { answer, authenticate } = createApp({ ...parts, mcp });
  const streams = openStreams(assembly, parts, { server, authenticate });
  answerRequests(
    server,
    getRequestListener((request, env) => answer(request, env as HttpBindings), {
      overrideGlobalObjects: false,
      errorHandler: () => withHeaders(Response.json({ error: 'The request is not valid.' }, { status: 400 })),
    }),
  );
  await write(io.stdout, toGreeting(assembly, parts, token), io.interrupted);
  await interrupted(io.interrupted);

  server.close();
  const { running, queued } = parts.line.counts();
  const left = await drained(parts, settings.shutdownMs);
  streams.close();
  await assembly.close();
  await mcp.close();
  server.closeAllConnections();
  log(`ended: ${running + queued - left} of ${running + queued} open calls were finished.`);
  return 0;
}

/** Serves what comes over WebSockets; a command that nobody came back to is ended. */
function openStreams(
  { terminalRules, http }: Assembly,
  { engine, isClosing, log, history }: Pick<AppParts, 'engine' | 'isClosing' | 'log' | 'history'>,
  { server, authenticate }: { readonly server: Server; readonly authenticate: Authenticate },
): { close(): void } {
  const ladder = { signal: 'SIGTERM', graceMs: 2_000 } as const;
  const end = async ({ commandId, asker }: KeptCommand) => {
    await (await engine()).stop(commandId, ladder, asker).catch(() => {});
  };
  const kept = createKeptCommands((command) => void end(command).catch(() => {}));
  const atTerminal = (program: string, { programs }: HttpCaller) =>
    http.terminalShells.includes(program) && (programs?.includes(program) ?? true)
      ? terminalRules
      : undefined;
  const parts = { engine, kept, terminalRules: atTerminal, isClosing, log, history };
  const upgrades = acceptUpgrades(server, authenticate, (socket, caller) =>
    serveSocket(parts, socket, caller),
  );
  return {
    close() {
      upgrades.close();
      kept.close();
    },
  };
}

interface Standing {
  readonly token: OwnToken;
  readonly secure: boolean;
  readonly port: number;
  readonly log: (message: string) => void;
}

async function assembleParts(
  assembly: Assembly,
  { token, secure, port, log }: Standing,
): Promise<Omit<AppParts, 'mcp'>> {
  const { http: settings, cwd, io } = assembly;
  const { httpHost: host, httpHosts: moreHosts, corsOrigins, appletsDir } = settings;
  const history = createHistory();
  const applets = createApplets(
    appletsDir === undefined ? undefined : resolve(cwd, appletsDir),
    assembly.shellRules,
    settings.terminalShells,
  );
  return {
    callers: await createCallers(assembly, token.text, history),
    history,
    sites: createSites({ secure, host, port, moreHosts, corsOrigins }),
    pages: createPageSessions(),
    applets,
    cookieName: `nacre_${port}`,
    onRefused: (address, reason) => log(`refused ${address}: ${reason}`),
    engine: assembly.engine,
    settings,
    line: createLine({ running: settings.httpMaxRunning, queued: settings.httpMaxQueued }),
    version: assembly.version,
    isClosing: () => io.interrupted.aborted,
    log,
  };
}

function toGreeting(
  { flags, version }: Assembly,
  { sites, pages }: Pick<AppParts, 'sites' | 'pages'>,
  token: OwnToken,
): string {
  const address = sites.address();
  const link = `${address}/open?ticket=${pages.issueTicket({ origin: address })}`;
  if (flags.json === true)
    return `${JSON.stringify({ address, token: token.text, link, mcp: `${address}/mcp` })}\n`;
  const lines = [
    `nacre ${version} serves on ${address}`,
    `Open in a browser (once, within ten minutes): ${link}`,
    token.isNew
      ? `Token for programs (shown once): ${token.text}`
      : 'Token for programs: the one that you set.',
  ];
  return `${lines.join('\n')}\n`;
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    signal.addEventListener('abort', () => done(), { once: true });
    if (signal.aborted) done();
  });
}

async function drained({ line }: Pick<AppParts, 'line'>, limitMs: number): Promise<number> {
  const open = () => line.counts().running + line.counts().queued;
  for (let waitedMs = 0; open() > 0 && waitedMs < limitMs; waitedMs += 20) await pause(20);
  return open();
}
