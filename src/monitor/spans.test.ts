import { describe, expect, it } from 'vitest';
import { createTestEngine } from '../../tests/support/engine.ts';
import { createSpans } from './spans.ts';
import { loadTraceApi, type TraceApi } from './trace-api.ts';

interface Seen {
  name: string;
  parent: unknown;
  attributes: Record<string, unknown>;
  status?: unknown;
  ended: boolean;
}

/** A tracer that keeps its spans. */
function createTracer(): { api: TraceApi; spans: Seen[] } {
  const spans: Seen[] = [];
  const startSpan = (name: string, { attributes }: { attributes: object }, parent?: unknown) => {
    const seen: Seen = { name, parent, attributes: { ...attributes }, ended: false };
    spans.push(seen);
    return {
      setAttributes: (more: object) => Object.assign(seen.attributes, more),
      setStatus: (status: unknown) => Object.assign(seen, { status }),
      updateName: (next: string) => Object.assign(seen, { name: next }),
      end: () => void Object.assign(seen, { ended: true }),
    };
  };
  const trace = { getTracer: () => ({ startSpan }), setSpanContext: (_: unknown, span: object) => span };
  return { api: { ROOT_CONTEXT: {}, trace }, spans };
}

describe('S10: spans', () => {
  it('tell each command, under the id of its reply and the trace of its caller', async () => {
    const { api, spans } = createTracer();
    const here = createTestEngine({ onRecord: createSpans(api) });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const caller = { door: 'mcp', client: 'tester', traceparent } as const;
    const { id } = await here.run('ls -d /', {}, { caller });
    await here.run('exit 3');
    await here
      .run('true', { cwd: '/no/such' }, { caller: { ...caller, traceparent: 'nonsense' } })
      .catch(() => {});
    await expect.poll(() => spans).toHaveLength(3);
    expect(spans).toMatchObject([
      {
        name: 'ls',
        parent: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1, isRemote: true },
        attributes: {
          'nacre.command.id': id,
          'process.command_line': 'ls -d /',
          'process.executable.name': 'ls',
          'process.working_directory': here.folder,
          'process.exit.code': 0,
        },
        ended: true,
      },
      {
        parent: undefined,
        attributes: { 'process.exit.code': 3, 'error.type': 'failed' },
        status: { code: 2 },
        ended: true,
      },
      { parent: undefined, attributes: { 'error.type': 'cwd_invalid' }, ended: true },
    ]);
    expect(spans[0]).not.toHaveProperty('status');
    await here.close();
  });

  it('need a package that whoever traces brings along', () => {
    expect(() => loadTraceApi('file:///nowhere/nacre.js')).toThrow('@opentelemetry/api');
    expect(loadTraceApi().trace.getTracer('nacre')).toHaveProperty('startSpan');
  });
});
