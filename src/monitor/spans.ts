import type { AuditRecord } from '../audit/read-records.ts';
import type { Span, TraceApi } from './trace-api.ts';

const failedStatus = 2;

/** Creates a span for each command from its audit records, with OpenTelemetry's attribute names for processes. */
export function createSpans({ trace, ROOT_CONTEXT }: TraceApi): (record: AuditRecord) => void {
  const tracer = trace.getTracer('nacre');
  const open = new Map<string, Span>();

  const begin = (record: AuditRecord) => {
    const { id, door, client, command, traceparent } = record;
    const attributes = {
      'nacre.command.id': id,
      'nacre.door': door,
      'nacre.client': client,
      'process.command_line': typeof command === 'string' ? command : JSON.stringify(command),
    };
    // Records arrive a few milliseconds late, so the span uses `record.time`.
    const options = { attributes, startTime: new Date(record.time) };
    const parent = toParent(traceparent);
    const context = parent && trace.setSpanContext(ROOT_CONTEXT, parent);
    open.set(
      id,
      context === undefined
        ? tracer.startSpan('command', options)
        : tracer.startSpan('command', options, context),
    );
  };
  const addDecision = (span: Span, record: AuditRecord) => {
    const [program] = Array.isArray(record.programs) ? record.programs.map(String) : [];
    if (program !== undefined) span.updateName(program);
    span.setAttributes({
      ...(program !== undefined && { 'process.executable.name': program }),
      'process.working_directory': String(record.cwd),
      'nacre.rule': String(record.rule),
    });
  };
  const end = (span: Span, record: AuditRecord) => {
    const { id, kind, status, exit_code, code, message } = record;
    if (kind === 'finished')
      span.setAttributes({
        ...(exit_code !== null && { 'process.exit.code': Number(exit_code) }),
        'nacre.outcome': String(status),
      });
    if (kind !== 'skipped' && status !== 'completed') {
      span.setAttributes({ 'error.type': String(kind === 'finished' ? status : code) });
      span.setStatus({ code: failedStatus, ...(typeof message === 'string' && { message }) });
    }
    span.end(new Date(record.time));
    open.delete(id);
  };

  return (record) => {
    if (record.kind === 'asked') begin(record);
    const span = open.get(record.id);
    if (span && record.kind === 'decided') addDecision(span, record);
    if (span && ['finished', 'failed', 'refused', 'skipped'].includes(record.kind)) end(span, record);
  };
}

/** Parses the `traceparent` header of W3C Trace Context; undefined if it is invalid. */
function toParent(traceparent: unknown) {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(String(traceparent)) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '0', 16), isRemote: true };
}
