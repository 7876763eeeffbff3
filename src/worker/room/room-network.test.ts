import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createStopwatch } from '../../support/timing.ts';
import { openRoomNetwork } from './room-network.ts';

test.each([[[]], [['allowed.example']]])(
  'a room (hosts: %j) whose `bwrap` is killed after its fork() is an error within seconds, and leaves no process',
  async (networkAllow) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\nsleep 7301 &\nkill -KILL $$\n', { mode: 0o755 });
    const env = { PATH: `${folder}:/usr/bin:/bin`, ROOM: folder };
    const elapsed = createStopwatch();
    const opening = openRoomNetwork({ bashPath: '/bin/bash', env, isRoot: true, networkAllow });
    await expect(opening).rejects.toThrow('it ended immediately');
    expect(elapsed()).toBeLessThan(15_000);
    await expect.poll(() => processesWith(`ROOM=${folder}`)).toEqual([]);
  },
);
