import { NacreError } from '../../contract/failure.ts';
import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import type { Arguments, BrowserAccess, FlagAccess, IoAccess, PageLink } from '../door.ts';
import { print } from '../print.ts';

type OpenDeps = FlagAccess<{ readonly print: boolean; readonly viewer: boolean }> &
  IoAccess &
  Arguments &
  ServerFolder &
  BrowserAccess;

/** Handles `nacre open`: gets a new link from a running server, and opens it in a browser or prints it. */
export async function openDoor(deps: OpenDeps): Promise<number> {
  const { io, flags, words } = deps;
  const { replies, failed, close } = await askServers<PageLink | null>(deps, {
    method: 'link',
    role: flags.viewer ? 'viewer' : 'operator',
  });
  close();
  const links = replies.flatMap(({ result }) => result ?? []);
  const { address, link } = chooseLink(links, words, failed);
  if (flags.print) await print(io.stdout, `${link}\n`);
  else if (await deps.openBrowser(link)) await print(io.stdout, `Opened ${address} in a browser.\n`);
  else {
    await print(
      io.stderr,
      'nacre: no browser could be started; open this link (once, within ten minutes):\n',
    );
    await print(io.stdout, `${link}\n`);
  }
  return 0;
}

function chooseLink(
  links: readonly PageLink[],
  [wanted, ...more]: readonly string[],
  [failure]: readonly NacreError[],
): PageLink {
  if (more.length > 0) throw invalid('nacre open accepts one address.', 'Name one server, such as 7433.');
  const found = links.filter(({ address }) => wanted === undefined || isNamed(address, wanted));
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  const addresses = links.map(({ address }) => address).join(', ');
  if (found.length > 1)
    throw invalid(`${found.length} servers are running: ${addresses}.`, 'Name one: nacre open ADDRESS.');
  if (links.length > 0)
    throw invalid(`No server is running on ${wanted}, only on ${addresses}.`, 'Name one of these.');
  throw failure ?? invalid('No server that nacre serve started is running.', 'Start one with nacre serve.');
}

/** Whether `wanted` is an address such as `http://127.0.0.1:7433`, or its host and port, or its port alone. */
function isNamed(address: string, wanted: string): boolean {
  const { host, port } = new URL(address);
  return [address, host, port].includes(wanted.replace(/\/$/, ''));
}

function invalid(message: string, hint: string): NacreError {
  return new NacreError('invalid_request', message, { hint });
}
