import { expect, test } from 'vitest';
import { serve } from '../support/http.ts';

test('S7: figures are served in Prometheus’ text format, to whoever has the token', async () => {
  const server = await serve({ env: { SHELL_ALLOWLIST: '*' } });
  const { address, bearer } = server;
  await server.shell('true');
  expect((await fetch(`${address}/metrics`)).status).toBe(401);
  const reply = await fetch(`${address}/metrics`, { headers: bearer });
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await reply.text()).toContain(
    'nacre_commands_total{outcome="completed",program="true",door="http"} 1\n',
  );
  expect(await server.close()).toEqual([]);
});
