import { createRequire } from 'node:module';
import { NacreError } from '../contract/failure.ts';

/** What nacre uses of a span of OpenTelemetry. */
export interface Span {
  setAttributes(attributes: Readonly<Record<string, string | number>>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  updateName(name: string): unknown;
  end(time: Date): void;
}

/** What nacre uses of the package `@opentelemetry/api`, which whoever traces brings along. */
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

/** Loads the package as a file beside this one finds it; says what to do where it is not there. */
export function loadTraceApi(from: string = import.meta.url): TraceApi {
  try {
    return createRequire(from)('@opentelemetry/api') as TraceApi;
  } catch (cause) {
    throw new NacreError(
      'settings_invalid',
      'traces is set, and the package @opentelemetry/api cannot be loaded.',
      {
        hint: 'Install @opentelemetry/api beside nacre, with an SDK that exports what it gets, or leave traces out.',
        cause,
      },
    );
  }
}
