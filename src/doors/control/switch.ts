import { setPaused } from '../../support/pause-mark.ts';
import type { Assembly } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { toSentences, write } from '../say.ts';
import { askServers } from './reach-servers.ts';

/** The door of `nacre pause`: from now on nothing starts, and what runs on a server is ended. */
export const pause = {
  async open({ io, controlDir }: Assembly): Promise<number> {
    setPaused(controlDir, true);
    const { answered, failed, close } = await askServers(controlDir, { method: 'end_all' });
    close();
    const many = answered.length === 1 ? '1 server' : `${answered.length} servers`;
    await write(io.stdout, `${many} paused: nothing runs until nacre resume.\n`);
    const goesOn = failed.map((error) => `${toSentences(error)}nacre: What it runs may go on.\n`);
    await write(io.stderr, goesOn.join(''));
    return failed.length === 0 ? 0 : failedExit;
  },
};

/** The door of `nacre resume`. */
export const resume = {
  async open({ io, controlDir }: Assembly): Promise<number> {
    setPaused(controlDir, false);
    await write(io.stdout, 'Commands run again.\n');
    return 0;
  },
};
