// A call over MCP on stdio:
// 1. `greet.ts` has answered the first messages, before this code was loaded,
// 2. `stdio-transport.ts` reads a message, and the SDK parses it in any protocol revision,
// 3. `create-server.ts` calls the tool and sends progress notifications while the command runs,
// 4. the tool's reply becomes the result. A cancelled call kills the command's process tree.
// When stdin closes, the server kills every command and exits.
import { createId } from '../../support/ids.ts';
import { createConnectedClients } from '../connected-clients.ts';
import type {
  ControlAccess,
  EngineAccess,
  Greeted,
  GreetingAccess,
  Io,
  IoAccess,
  LiveAccess,
  ProcessAccess,
  ReplySettings,
  SettingsAccess,
  ToolAccess,
  VersionAccess,
} from '../door.ts';
import { prepareServer } from '../prepare-server.ts';
import type { ClientTools } from './create-server.ts';
import { patienceOf } from './patient-clients.ts';

// `initialize` and `tools/list` come first; warming up the engine would delay their replies.
const warmUpAfterMs = 300;

type McpDeps = IoAccess &
  VersionAccess &
  SettingsAccess &
  EngineAccess &
  Pick<ProcessAccess, 'machine'> &
  ReplySettings &
  ToolAccess &
  GreetingAccess &
  LiveAccess &
  ControlAccess;

/** `nacre mcp`: serves MCP on stdin and stdout until stdin closes or a signal arrives. */
export async function mcpDoor(deps: McpDeps): Promise<number> {
  const opened = performance.now();
  const { version } = deps;
  const nothing: Greeted = {
    stdin: deps.io.stdin,
    answered: new Set(),
    introduced: undefined,
    isOver: false,
  };
  const { stdin, answered, introduced } = deps.greeted ?? nothing;
  const io = { ...deps.io, stdin };
  const warn = (message: string) => io.stderr.write(`nacre: ${message}\n`);
  for (const warning of [...deps.warnings, ...deps.toolWarnings, ...deps.newerCopy()])
    warn(`warning: ${warning}`);
  const [offered, { serveStdio }, { createServer }, { createStdioTransport }] = await Promise.all([
    deps.tools(),
    import('@modelcontextprotocol/server/stdio'),
    import('./create-server.ts'),
    import('./stdio-transport.ts'),
  ]);
  const tools: ClientTools = {
    list: (client) => offered.list(patienceOf(client)),
    instructions: (client) => offered.instructions(patienceOf(client)),
    refresh: deps.refresh,
  };
  // A server that is stopped while it is loaded starts no command that its client has already sent.
  if (io.interrupted.aborted) return 0;
  // There is one owner for the whole process, even if the client sends `initialize` more than once.
  const owner = createId('mcp');
  const clients = createConnectedClients();
  deps.describeServer(() => ({ door: 'mcp', clients: clients.names() }));
  const source = { ...deps, owner, introduced, onClient: (name: string) => clients.seen(name, owner) };
  const handle = serveStdio(() => createServer(tools, version, source), {
    transport: createStdioTransport(io, answered),
    onerror: (error) => warn(`protocol error: ${error.message}`),
  });
  const warmUpMs = Math.max(0, opened + warmUpAfterMs - performance.now());
  const warmUp = setTimeout(() => void prepareServer(deps, warn).catch(() => {}), warmUpMs);
  await inputEnded(io);
  clearTimeout(warmUp);
  // `deps.close` kills the commands with a short grace period; `handle.close` would cancel them with the long one.
  await deps.close();
  await handle.close();
  return 0;
}

function inputEnded({ stdin, stdout, interrupted }: Io): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    for (const event of ['end', 'close', 'error']) stdin.once(event, done);
    stdout.once('error', done);
    interrupted.addEventListener('abort', done, { once: true });
    if (interrupted.aborted || stdin.destroyed) done();
  });
}
