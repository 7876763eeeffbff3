import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect, eras, type ServerOptions } from '../support/mcp.ts';
import { exampleReplies, shapeOf } from '../support/replies.ts';
import { shareServers } from './shared-servers.ts';

const share = shareServers();

async function serve(options: ServerOptions = {}) {
  const server = await share({ args: ['--tools', 'shell-execute'], ...options });
  return async (args: Record<string, unknown>, _meta?: Record<string, unknown>) => {
    const call = { name: 'shell_execute', arguments: args, ...(_meta && { _meta }) };
    const result = await server.client.callTool(call);
    const [first, second] = result.content as { type: string; text: string }[];
    return { ...result, first: first?.text, second: second?.text ?? '' };
  };
}

describe.concurrent.each(eras)('shell_execute over MCP %s', (era) => {
  it('S2: replies with the sentence, the metadata without the command as JSON, and the same as structured content', async () => {
    const call = await serve({ era });
    const { first, second, structuredContent, isError } = await call({ command: 'echo hello' });
    expect(first).toBe(exampleReplies.success.content[0]?.text);
    expect(JSON.parse(second)).toEqual(structuredContent);
    expect(isError ?? false).toBe(false);
    const { command: _command, ...metadata } = exampleReplies.success.metadata;
    expect(shapeOf(structuredContent as object)).toEqual(shapeOf(metadata));
    expect(structuredContent).toMatchObject({ stdout: 'hello\n' });
  });

  it('S3, S4: failures and timeouts are errors with their metadata', async () => {
    const call = await serve({ era });
    const failed = await call({ command: 'echo some; exit 3' });
    expect(failed).toMatchObject({ first: 'Command failed with exit code 3', isError: true });
    expect(JSON.parse(failed.second)).toMatchObject({ exit_code: 3, stdout: 'some\n' });
    const late = await call({ command: 'echo some; sleep 60', timeout: 1 });
    expect(late).toMatchObject({ first: 'Command timed out after 1 seconds', isError: true });
    const { command: _command, ...metadata } = exampleReplies.timeout.metadata;
    expect(shapeOf(JSON.parse(late.second))).toEqual(shapeOf(metadata));
  });
});

describe.concurrent('shell_execute and the settings', () => {
  it('S10: the id of the reply and the traceparent of the caller are in the audit log and in log lines', async () => {
    const env = { NACRE_AUDIT_DIR: 'audit', NACRE_LOG_LEVEL: 'info', NACRE_LOG_FORMAT: 'json' };
    const server = await connect({ args: ['--tools', 'shell-execute'], env });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const { structuredContent } = await server.client.callTool({
      name: 'shell_execute',
      arguments: { command: 'true' },
      _meta: { traceparent },
    });
    const { id } = structuredContent as { id: string };
    expect(await server.close()).toEqual([]);
    const folder = join(server.cwd, 'audit');
    const records = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(records.join('')).toMatch(
      new RegExp(`"kind":"asked","id":"${id}".*"traceparent":"${traceparent}"`),
    );
    expect(server.stderr()).toMatch(new RegExp(`"event":"finished","id":"${id}"`));
  });

  it('P12: runs everything if no list is set, and only what its own list allows next to the terminal tools', async () => {
    expect((await (await serve())({ command: 'id -u' })).isError ?? false).toBe(false);
    const env = { NACRE_SHELL_EXECUTE_ALLOWED_COMMANDS: 'id' };
    const call = await serve({ args: ['--tools', 'all'], env });
    expect((await call({ command: 'id -u' })).isError ?? false).toBe(false);
    expect(await call({ command: 'ls' })).toMatchObject({ isError: true });
    const shared = await serve({ args: ['--tools', 'all'] });
    expect(await shared({ command: 'id -u' })).toMatchObject({ isError: true });
  });

  it('S5: an invalid call gets all its problems and a code', async () => {
    const call = await serve();
    const { first, _meta, isError } = await call({ timeout: 'soon' }, { 'nacre/details': true });
    expect(isError).toBe(true);
    expect(first).toMatch(/command is required.*timeout must be/);
    expect(_meta).toMatchObject({ 'nacre/code': 'invalid_request' });
  });
});
