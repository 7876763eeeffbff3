import type { Server } from 'node:http';
import type { HttpAccess, ProcessAccess } from '../../door.ts';
import type { Sites } from '../access/sites.ts';
import { createHttpServer, listen } from '../requests/listen.ts';

/** Returns the address at which an applet is opened. */
export type AppletAddress = (slug: string) => Promise<string>;

/** Creates the addresses: a name below localhost, or, with `applet_origins: port`, a port opened on first use. */
export function createAppletAddresses(
  { http: settings, cwd }: Pick<HttpAccess, 'http'> & Pick<ProcessAccess, 'cwd'>,
  sites: Sites,
  onOpen: (server: Server) => void,
): AppletAddress {
  const known = new Map<string, Promise<string>>();
  const openPort = async (slug: string) => {
    const { server } = createHttpServer(settings, cwd);
    const port = await listen(server, { ...settings, httpPort: 0 });
    onOpen(server);
    return sites.assignPort(slug, port);
  };
  return async (slug) => {
    if (settings.appletOrigins === 'name') return sites.address(slug);
    const address = known.get(slug) ?? openPort(slug);
    known.set(slug, address);
    // A failed `listen` is retried by the next call.
    address.catch(() => known.delete(slug));
    return address;
  };
}
