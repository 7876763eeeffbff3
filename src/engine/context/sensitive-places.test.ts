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
    const first = await places.resolve(['/home/me', '/root']);
    expect(first).toContainEqual({ asked: '/home/me/.ssh', path: '/real/home/me/.ssh' });
    expect(first).toContainEqual({ asked: '/root/.ssh', path: '/real/root/.ssh' });
    expect(await places.resolve(['/home/me', '/root'])).toBe(first);
    expect(queries).toHaveLength(1);
    vi.advanceTimersByTime(5_001);
    await places.resolve(['/home/me', '/root']);
    expect(queries).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
