import { createRequire } from 'node:module';
import { NacreError } from '../contract/failure.ts';

/** The part of OpenTelemetry's `Span` that nacre uses. */
export interface Span {
  setAttributes(attributes: Readonly<Record<string, string | number>>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  updateName(name: string): unknown;
  end(time: Date): void;
}

/** The part of `@opentelemetry/api` that nacre uses; it is an optional peer dependency. */
export interface TraceApi {
  readonly ROOT_CONTEXT: unknown;
  readonly trace: {
    getTracer(name: string): {
      startSpan(
        name: string,
        options: { attributes: Readonly<Record<string, string>>; startTime: Date },
        context?: unknown,
      ): Span;
    };
    setSpanContext(
      context: unknown,
      span: { traceId: string; spanId: string; traceFlags: number; isRemote: boolean },
    ): unknown;
  };
}

/** Loads `@opentelemetry/api`, resolved from the file `from`; throws `settings_invalid` if it is not installed. */
export function loadTraceApi(from: string = import.meta.url): TraceApi {
  try {
    return createRequire(from)('@opentelemetry/api') as TraceApi;
  } catch (cause) {
    throw new NacreError(
      'settings_invalid',
      'traces is set, but the package @opentelemetry/api cannot be loaded.',
      {
        hint: 'Install @opentelemetry/api next to nacre, with an SDK that exports the spans, or turn traces off.',
        cause,
      },
    );
  }
}
