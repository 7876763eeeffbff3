import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createPlace, endOf, runInProcess, sleep, startReal, survivors } from '../support/nacre.ts';
import { soakCount } from '../support/soak.ts';

it('S6: a nacre killed at any moment leaves an intact log, and no command ran without a record', async () => {
  const place = createPlace();
  const effects = join(place.cwd, 'effects');
  const killOne = async (number: number) => {
    const child = startReal(['run', `echo effect-${number} >> ${effects}; sleep 5`], place);
    child.stdout.resume();
    child.stderr.resume();
    await sleep(60 + Math.random() * 400);
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  for (let round = 0; round < soakCount(10, 3); round += 1)
    await Promise.all([0, 1, 2].map((one) => killOne(round * 3 + one)));
  // A last nacre that is not killed shows that commands do run.
  await endOf(startReal(['run', `echo effect-last >> ${effects}`], place));
  expect(await runInProcess(['audit', 'verify'], place)).toMatchObject({ code: 0 });
  const { stdout } = await runInProcess(['audit', 'export'], place);
  const records = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const started = new Set(records.filter(({ kind }) => kind === 'started').map(({ id }) => id));
  const recorded = records
    .filter(({ kind, id }) => kind === 'asked' && started.has(id))
    .map(({ command }) => String(command));
  const done = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
  expect(done).toContain('effect-last');
  expect(done.filter((effect) => !recorded.some((command) => command.includes(`${effect} `)))).toEqual([]);
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
}, 60_000);
