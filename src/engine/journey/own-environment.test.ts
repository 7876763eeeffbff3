import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';

let here: TestEngine;
beforeEach(() => {
  const environment = { PATH: '/usr/bin:/bin', PLAIN: 'seen', HELD: 'unseen', DB_PASSWORD: 'let through' };
  here = createTestEngine({ worker: { environment } });
});
afterEach(() => here.close());

const environment = { envPass: ['DB_PASSWORD'], envWithhold: ['HELD'] };
const script = 'echo "$PLAIN, $HELD, $DB_PASSWORD"';
const shown = 'seen, , let through\n';

describe('S8: the environment rules of a caller', () => {
  test('apply to a command that is awaited', async () => {
    expect(await here.run(script, {}, { environment })).toMatchObject({ stdout: shown });
    expect(await here.run(script)).toMatchObject({ stdout: 'seen, unseen, \n' });
  });

  test('apply to a background command, also with a terminal', async () => {
    for (const terminal of [undefined, { cols: 80, rows: 24 }]) {
      const id = await here.start(script, { terminal, stdin: 'empty' }, { environment });
      const query = { waitMs: 20_000, maxChars: 1_000, keep: 'ends', view: 'clean' } as const;
      const context = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
      const reading = await here.engine.read(id, { ...query, howToReadOn: () => '' }, context);
      expect(reading.stdout.trimEnd()).toBe(shown.trimEnd());
    }
  });

  test('apply to a persistent shell, also after its processes are restarted', async () => {
    const inSession = () => here.run(script, { session: 'mine' }, { environment });
    expect(await inSession()).toMatchObject({ stdout: shown });
    await here.run('exit', { session: 'mine' }, { environment });
    expect(await inSession()).toMatchObject({ stdout: shown });
  });
});
