import type { AppParts } from './create-app.ts';

/** Counts answers. */
export interface RequestCounts {
  add(status: number): void;
  list(): ReadonlyMap<number, number>;
}

/** Makes counters that begin at nothing. */
export function createRequestCounts(): RequestCounts {
  const counts = new Map<number, number>();
  return {
    add: (status) => void counts.set(status, (counts.get(status) ?? 0) + 1),
    list: () => counts,
  };
}

/** Figures about commands and about this door, in Prometheus' text format. */
export async function tellMetrics({ engine, line, requests }: AppParts): Promise<Response> {
  const { running, queued } = line.counts();
  const answers = [...requests.list()].map(
    ([status, count]) => `nacre_http_answers_total{status="${status}"} ${count}`,
  );
  const own = [
    '# HELP nacre_http_answers_total Answers over HTTP, by status.',
    '# TYPE nacre_http_answers_total counter',
    ...answers,
    '# HELP nacre_http_calls Calls over HTTP that are served or wait in line.',
    '# TYPE nacre_http_calls gauge',
    `nacre_http_calls{state="running"} ${running}`,
    `nacre_http_calls{state="queued"} ${queued}`,
  ];
  const text = `${(await (await engine()).metrics()).trimEnd()}\n${own.join('\n')}\n`;
  return new Response(text, { headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' } });
}
