import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAuditFiles } from '../../src/audit/audit-files.ts';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { createNacre } from '../../src/index.ts';
import { askedEntry } from '../support/audit.ts';
import {
  createPlace,
  endOf,
  runInProcess,
  sleep,
  startInProcess,
  startReal,
  surroundingsOf,
  survivors,
} from '../support/nacre.ts';
import { soakCount } from '../support/soak.ts';

const place = createPlace({ NACRE_AUDIT_DIR: 'audit', DB_PASSWORD: 'hunter2-value' });
const audit = (...words: string[]) => runInProcess(['audit', ...words], place);
const folder = join(place.cwd, 'audit');
const fileWith = (text: string) =>
  readdirSync(folder)
    .filter((name) => /^\d/.test(name))
    .map((name) => join(folder, name))
    .find((path) => readFileSync(path, 'utf8').includes(text)) ?? '';

beforeAll(async () => {
  await runInProcess(['run', 'echo one'], place);
  await runInProcess(['run', 'ls -d hunter2-value; exit 3'], place);
  await runInProcess(['run', '--allow', 'ls', 'cat /dev/null'], place);
  await runInProcess(['run', '--input', 'typed hunter2-value text', 'cat'], place);
  await runInProcess(['run', '--timeout', '200ms', 'sleep 60'], place);
});
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true });
});

describe('S6: nacre audit', () => {
  it('show lists commands with their outcomes, and filters them', async () => {
    const { stdout, code } = await audit('show');
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      expect.stringMatching(/^\d{4}-\S+Z {2}cmd_\w+ {2}completed .* ms {2}nacre run: echo one$/),
      expect.stringMatching(/failed 3 .* nacre run: ls -d \[redacted\]; exit 3$/),
      expect.stringMatching(/refused .* - {2}nacre run: cat \/dev\/null$/),
      expect.stringMatching(/completed .*: cat$/),
      expect.stringMatching(/timeout 1\d\d .*: sleep 60$/),
    ]);
    const shown = async (...words: string[]) =>
      (await audit('show', '--json', ...words)).stdout.split('\n').length - 1;
    expect(await shown()).toBe(5);
    expect(await shown('--program', 'cat')).toBe(2);
    expect(await shown('--program', 'cat', '--outcome', 'refused')).toBe(1);
    expect(await shown('--client', 'another')).toBe(0);
    expect(await shown('--since', '1h')).toBe(5);
    expect(await shown('--since', '2999-01-01')).toBe(0);
  });

  it('prune shows what is beyond the limits, removes it only after a confirmation, and verify counts it', async () => {
    const dir = join(place.cwd, 'old-audit');
    for (const day of ['2026-01-01', '2026-01-02']) {
      const log = createAuditLog({
        dir,
        fsync: 'interval',
        redact: (text) => text,
        now: () => new Date(`${day}T12:00:00Z`),
      });
      log.record(askedEntry('x'));
      log.close();
    }
    const prune = (...words: string[]) =>
      audit('prune', '--audit-dir', dir, '--audit-keep-days', '1', ...words);
    expect(await prune()).toMatchObject({
      code: 125,
      stdout: expect.stringMatching(/2026-01-01_\S+ \(\d+ bytes\)\n {2}2026-01-02_/),
      stderr: expect.stringMatching(/not a terminal(?:.|\n)*--yes/),
    });
    expect(listAuditFiles(dir)).toHaveLength(2);
    expect(JSON.parse((await prune('--yes', '--json')).stdout).removed).toHaveLength(2);
    expect(listAuditFiles(dir)).toEqual([]);
    expect(await prune('--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No file is beyond'),
    });
    expect(await audit('verify', '--audit-dir', dir)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'pruned: 2 records of 2026-01-01 to 2026-01-02 in 2 files were removed on purpose.\nIntact: 0 records',
      ),
    });
  });

  it('export prints the records of a command: asked, decided, started, input, finished', async () => {
    const id = JSON.parse(
      (await audit('show', '--json', '--program', 'cat', '--outcome', 'completed')).stdout,
    ).id;
    const { stdout } = await audit('export', '--id', id);
    const records = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(records.map(({ kind }) => kind)).toEqual(['asked', 'decided', 'started', 'input', 'finished']);
    expect(records[3]).toMatchObject({ text: 'typed [redacted] text', chars: 24, eof: true });
    expect(records[4]).toMatchObject({
      status: 'completed',
      stdout_bytes: 24,
      stdout_sha256: 'babb99d2944e52de5e911883ade321da97e459a47b3ecc95cd63814602798cd1',
      resources: expect.any(Object),
      enforcement: expect.any(Object),
    });
    expect((await audit('export')).stdout).not.toContain('hunter2');
  });

  it('verify accepts an intact log, and finds the first changed record', async () => {
    const intact = await audit('verify');
    expect(intact).toMatchObject({ code: 0, stderr: '' });
    expect(intact.stdout).toMatch(/^Intact: 2\d records in 5 files in .*audit_key is not set\.\n$/);
    const path = fileWith('echo one');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('echo one', 'echo two'));
    const broken = await audit('verify');
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(
      /^BROKEN \S+\.jsonl:2 does not match the record before it.*changed\.\nNot intact/,
    );
    expect(JSON.parse((await audit('verify', '--json')).stdout).problems).toHaveLength(1);
    writeFileSync(path, text);
    appendFileSync(path, '{"torn');
    expect(await audit('verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^note: .*6 bytes/),
    });
    writeFileSync(path, text);
  });

  it('verify checks signatures with a key', async () => {
    const keyed = createPlace({ NACRE_AUDIT_KEY: 'key' });
    writeFileSync(join(keyed.cwd, 'key'), 'k'.repeat(40));
    await runInProcess(['run', 'true'], keyed);
    const { stdout, code } = await runInProcess(['audit', 'verify'], keyed);
    expect(code).toBe(0);
    expect(stdout).toContain('every signature is valid');
    writeFileSync(join(keyed.cwd, 'key'), 'other'.repeat(40));
    expect((await runInProcess(['audit', 'verify'], keyed)).code).toBe(1);
    rmSync(keyed.cwd, { recursive: true });
  });

  it('redact_output masks the same secrets in output as in records', async () => {
    const { stdout } = await runInProcess(['run', '--redact-output', 'echo a hunter2-value b'], place);
    expect(stdout).toBe('a ************* b\n');
  });

  it('tail follows new records', async () => {
    const tail = startInProcess(['audit', 'tail'], place);
    const lines = startInProcess(['audit', 'tail', '--json', '--since', '1min'], place);
    await runInProcess(['run', 'echo followed'], place);
    await expect
      .poll(() => tail.out.text(), { timeout: 5_000 })
      .toMatch(/asked .*echo followed.*\n[\s\S]*finished/);
    await expect.poll(() => lines.out.text(), { timeout: 5_000 }).toContain('"echo followed"');
    tail.interrupt('SIGINT');
    lines.interrupt('SIGINT');
    expect(await tail.ended).toMatchObject({ code: 0 });
    expect(await lines.ended).toMatchObject({ code: 0 });
  });

  it('lists its subcommands if an unknown one is given', async () => {
    expect(await audit()).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('verify, show, export, tail'),
    });
    expect((await audit('verfy')).stderr).toContain('Did you mean verify?');
    expect((await audit('show', '--since', 'soon')).stderr).toContain('--since: "soon" is not a time');
    expect(JSON.parse((await audit('show', '--json', '--since', 'soon')).stdout).error.code).toBe(
      'invalid_request',
    );
  });

  it('works in the built command line', async () => {
    expect(await endOf(startReal(['audit', 'verify'], place))).toMatchObject({ code: 0 });
  });
});

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
  for (let round = 0; round < soakCount(10, 2); round += 1)
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

it('S10: log lines on stderr have the same id as the reply and the audit log', async () => {
  const place = createPlace({ NACRE_AUDIT_DIR: 'audit', MY_TOKEN: 'hidden-value' });
  const flags = ['--log-level', 'debug', '--log-format', 'json', '--json'];
  const { stdout, stderr } = await endOf(startReal(['run', ...flags, 'echo hidden-value'], place));
  const { id } = JSON.parse(stdout);
  const lines = stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(['asked', 'decided', 'started', 'finished']);
  expect(new Set(lines.map((line) => line.id))).toEqual(new Set([id]));
  expect(stderr).not.toContain('hidden-value');
  const folder = join(place.cwd, 'audit');
  const records = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(records.join('')).toContain(id);
  // Without `--log-level` nothing is logged.
  expect(await runInProcess(['run', 'true'], place)).toMatchObject({ stderr: '' });
  expect((await runInProcess(['run', '--log-level', 'info', 'true'], place)).stderr).toMatch(
    /info {2}cmd_\w+ finished: nacre run/,
  );
  const nacre = await createNacre({ loginEnv: 'never' }, surroundingsOf(place));
  await nacre.run('true');
  expect(await nacre.metrics()).toContain('nacre_commands_total{outcome="completed"');
  await nacre.close();
  rmSync(place.cwd, { recursive: true });
});
