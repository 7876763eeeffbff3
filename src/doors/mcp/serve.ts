// A call over MCP on stdio:
// 1. `stdio-transport.ts` reads a message, and the SDK understands it, of whatever protocol revision,
// 2. `call-tool.ts` hands a call to its tool, 3. the tool's reply goes back; progress goes out while the command runs;
// cancelling ends the command's tree. When stdin closes, every command ends and so does the server.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createId } from '../../support/create-id.ts';
import type { Assembly, Io } from '../door.ts';
import { getReady } from '../get-ready.ts';
import { createServer } from './create-server.ts';
import { createStdioTransport } from './stdio-transport.ts';

// The client's first questions come before what only a command needs.
const warmUpAfterMs = 300;

/** Serves MCP on stdin and stdout until stdin closes or the process is asked to end. */
export async function open(assembly: Assembly): Promise<number> {
  const { io, version } = assembly;
  const warn = (message: string) => io.stderr.write(`nacre: ${message}\n`);
  for (const warning of [...assembly.warnings, ...assembly.toolWarnings, ...assembly.newerCopy()])
    warn(`warning: ${warning}`);
  const tools = await assembly.tools();
  // One process at the other end, however often it introduces itself.
  const owner = createId('mcp');
  const source = { ...assembly, owner };
  const handle = serveStdio(() => createServer(tools, version, source), {
    transport: createStdioTransport(io),
    onerror: (error) => warn(`protocol error: ${error.message}`),
  });
  const warmUp = setTimeout(() => void getReady(assembly, warn).catch(() => {}), warmUpAfterMs);
  await ended(io);
  clearTimeout(warmUp);
  // First the commands, within the short time that the end of the server allows: closing the connection first would
  // cancel each with all the grace that a cancelled call has.
  await assembly.close();
  await handle.close();
  return 0;
}

function ended({ stdin, stdout, interrupted }: Io): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    for (const event of ['end', 'close', 'error']) stdin.once(event, done);
    stdout.once('error', done);
    interrupted.addEventListener('abort', done, { once: true });
    if (interrupted.aborted || stdin.destroyed) done();
  });
}
