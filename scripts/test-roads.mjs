// `npm run test:roads [-- ROAD...]`: runs the tests of engine, sessions and backends over each road to a worker: in this
// process, over a stream with 0 and with 100 ms of delay, and over the Unix socket of a worker process.
import { execFileSync } from 'node:child_process';
import { step } from './set-up.mjs';

const all = ['process', 'json', 'json-100', 'unix'];
const chosen = process.argv.slice(2);
const unknown = chosen.filter((road) => !all.includes(road));
if (unknown.length > 0) throw new Error(`Unknown roads: ${unknown.join(', ')}. Known: ${all.join(', ')}.`);

const pattern = 'support/(engine|roads)\\.ts';
const found = execFileSync('grep', ['-rlE', pattern, '--include=*.test.ts', 'src', 'tests'], {
  encoding: 'utf8',
});
const files = found.trim().split('\n');

for (const road of chosen.length > 0 ? chosen : all)
  await step(`Tests over the road ${road}`, 'node_modules/.bin/vitest', ['run', ...files], {
    env: { ...process.env, NACRE_TEST_ROAD: road },
  });
