import { describe, expect, it } from 'vitest';
import { createTestEngine } from '../../tests/support/engine.ts';
import { createSpans } from './spans.ts';
import { loadTraceApi, type TraceApi } from './trace-api.ts';

interface Seen {
  name: string;
  parent: unknown;
  attributes: Record<string, unknown>;
  status?: unknown;
  started: Date;
  ended: Date | null;
}

/** A tracer that collects its spans. */
function createTracer(): { api: TraceApi; spans: Seen[] } {
  const spans: Seen[] = [];
  const startSpan = (name: string, options: { attributes: object; startTime: Date }, parent?: unknown) => {
    const { attributes, startTime: started } = options;
    const seen: Seen = { name, parent, attributes: { ...attributes }, started, ended: null };
    spans.push(seen);
    return {
      setAttributes: (more: object) => Object.assign(seen.attributes, more),
      setStatus: (status: unknown) => Object.assign(seen, { status }),
      updateName: (next: string) => Object.assign(seen, { name: next }),
      end: (ended: Date) => void Object.assign(seen, { ended }),
    };
  };
  const trace = { getTracer: () => ({ startSpan }), setSpanContext: (_: unknown, span: object) => span };
  return { api: { ROOT_CONTEXT: {}, trace }, spans };
}

describe('S10: spans', () => {
  it('are created for each command, with the id of its reply and the trace of its caller', async () => {
    const { api, spans } = createTracer();
    const here = createTestEngine({ onRecord: createSpans(api) });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const caller = { door: 'mcp', client: 'tester', traceparent } as const;
    const { id } = await here.run('ls -d /', {}, { caller });
    await here.run('exit 3');
    await here
      .run('true', { cwd: '/no/such' }, { caller: { ...caller, traceparent: 'nonsense' } })
      .catch(() => {});
    await expect.poll(() => spans.filter(({ ended }) => ended !== null)).toHaveLength(3);
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
        ended: expect.any(Date),
      },
      {
        parent: undefined,
        attributes: { 'process.exit.code': 3, 'error.type': 'failed' },
        status: { code: 2 },
        ended: expect.any(Date),
      },
      { parent: undefined, attributes: { 'error.type': 'cwd_invalid' }, ended: expect.any(Date) },
    ]);
    expect(spans[0]).not.toHaveProperty('status');
    await here.close();
  });

  it('last from the request to the end, even if the records are published late', () => {
    const { api, spans } = createTracer();
    const observe = createSpans(api);
    const record = { seq: 0, id: 'cmd_1', door: 'cli', client: 'tester' };
    observe({ ...record, kind: 'asked', time: '2026-01-01T00:00:00.000Z', command: 'true' });
    observe({ ...record, kind: 'finished', time: '2026-01-01T00:00:00.004Z', status: 'completed' });
    const [{ started, ended } = {}] = spans;
    expect(Number(ended) - Number(started)).toBe(4);
  });

  it('need @opentelemetry/api, which the user installs', () => {
    expect(() => loadTraceApi('file:///nowhere/nacre.js')).toThrow('@opentelemetry/api');
    expect(loadTraceApi().trace.getTracer('nacre')).toHaveProperty('startSpan');
  });
});
