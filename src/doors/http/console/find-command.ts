import type { IndexedCommand } from '../../../audit/command-index.ts';
import { NacreError } from '../../../contract/failure.ts';
import { sleep } from '../../../support/timing.ts';
import type { HttpCaller } from '../access/callers.ts';
import type { ConsoleHub } from './hub.ts';

/** The error for a command that does not exist, or that the caller may not see. */
export function unknownCommand(caller: Pick<HttpCaller, 'page'>, id: string): NacreError {
  return new NacreError('job_not_found', `There is no command ${id.slice(0, 64)}.`, {
    hint: caller.page ? 'The page Commands lists them.' : 'GET /api/commands lists them.',
  });
}

/** The command with this id; a command that began a moment ago may not be in the index yet. */
export async function findCommand(
  { hub }: { readonly hub: ConsoleHub },
  caller: Pick<HttpCaller, 'page'>,
  id: string,
): Promise<IndexedCommand> {
  const known = hub.index.get(id);
  if (known) return known;
  await hub.upToDate();
  for (let tries = 0; tries < 20; tries += 1) {
    const found = hub.index.get(id);
    if (found) return found;
    await sleep(25);
  }
  throw unknownCommand(caller, id);
}
