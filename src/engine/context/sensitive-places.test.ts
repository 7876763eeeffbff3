import { expect, test, vi } from 'vitest';
import type { Facts, InspectQuery } from '../../contract/facts.ts';
import { createSensitivePlaces } from './sensitive-places.ts';

test('the directories are resolved once in a few seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const queries: InspectQuery[] = [];
    const places = createSensitivePlaces({
      async inspect(query): Promise<Facts> {
        queries.push(query);
        const roots = query.roots.map((asked) => ({ asked, path: `/real${asked}` }));
        return { cwd: { asked: '/', path: '/' }, roots, home: '/home/me', programs: {} };
      },
    });
    const first = await places.resolve('/home/me');
    expect(first).toContainEqual({ asked: '/home/me/.ssh', path: '/real/home/me/.ssh' });
    expect(await places.resolve('/home/me')).toBe(first);
    expect(queries).toHaveLength(1);
    vi.advanceTimersByTime(5_001);
    await places.resolve('/home/me');
    expect(queries).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
