import type { Server } from 'node:http';
import type { Assembly } from '../door.ts';
import type { AppParts } from './create-app.ts';
import { createHttpServer, listen } from './listen.ts';
import type { Sites } from './sites.ts';

/** Where applets are opened: at names below localhost, or at a port that is opened when it is first wanted. */
export function createAppletAddresses(
  { http: settings, cwd }: Pick<Assembly, 'http' | 'cwd'>,
  sites: Sites,
  open: (server: Server) => void,
): AppParts['appletAddress'] {
  const known = new Map<string, Promise<string>>();
  const openPort = async (slug: string) => {
    const { server } = createHttpServer(settings, cwd);
    const port = await listen(server, { ...settings, httpPort: 0 });
    open(server);
    return sites.giveTo(slug, port);
  };
  return async (slug) => {
    if (settings.appletOrigins === 'name') return sites.address(slug);
    const address = known.get(slug) ?? openPort(slug);
    known.set(slug, address);
    // What failed once may work the next time.
    address.catch(() => known.delete(slug));
    return address;
  };
}
