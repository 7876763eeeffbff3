import type { Engine } from '../../../engine/engine.ts';
import type { HttpCaller } from '../access/callers.ts';
import type { FairQueue } from '../requests/fair-queue.ts';
import type { Reply } from '../requests/raw-http.ts';
import type { RequestCounts } from '../requests/request-counts.ts';

/** Dependencies of `showMetrics`. */
export interface MetricsDeps {
  readonly engine: () => Promise<Engine>;
  readonly queue: FairQueue;
  readonly requests: RequestCounts;
}

/** Serves GET /metrics in the Prometheus text format: figures of all callers to the owner, to a named token only its own. */
export async function showMetrics(
  { engine, queue, requests }: MetricsDeps,
  { token, owner, rules }: HttpCaller,
): Promise<Reply> {
  const { running, queued } = queue.counts(rules.share);
  const replies = [...requests.list(token === undefined ? undefined : owner)].map(
    ([status, count]) => `nacre_http_answers_total{status="${status}"} ${count}`,
  );
  const own = [
    '# HELP nacre_http_answers_total HTTP replies, by status.',
    '# TYPE nacre_http_answers_total counter',
    ...replies,
    '# HELP nacre_http_calls HTTP calls that are running or waiting in the queue.',
    '# TYPE nacre_http_calls gauge',
    `nacre_http_calls{state="running"} ${running}`,
    `nacre_http_calls{state="queued"} ${queued}`,
  ];
  const body = `${(await (await engine()).metrics(token)).trimEnd()}\n${own.join('\n')}\n`;
  return { status: 200, headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }, body };
}
