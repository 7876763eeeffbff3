import type { Caller } from '../../../contract/caller.ts';
import type { PageRole } from '../../../contract/console.ts';
import type { Tool } from '../../../tools/common/tool.ts';
import type { HttpAccess, HttpRules, OfferedTools, ToolAccess } from '../../door.ts';
import type { HttpSettings } from '../../settings.ts';
import { HttpProblem } from '../requests/problem.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { digest, isSameDigest } from './tokens.ts';

/** An authenticated caller, and what it may do. */
export interface HttpCaller {
  /** Its `client` in the audit log. */
  readonly client: string;
  /** The owner id of the commands and sessions that it starts; it sees no others. */
  readonly owner: string;
  /** The name of its token, or of the applet; undefined for the server's own token. */
  readonly token?: string | undefined;
  readonly rules: HttpRules;
  /** The shells that it may open in a terminal, and the rules for them. */
  readonly terminal: { readonly shells: readonly string[]; readonly rules: HttpCaller['rules'] };
  /** The tools that it may call; empty for an applet. */
  readonly tools: readonly Tool[];
  /** Where `tools` come from, for MCP; absent for an applet. */
  readonly offered?: OfferedTools | undefined;
  readonly rate?: RateLimit | undefined;
  /** Set for a page of the console. A viewer may only look: routes refuse it unless they are marked `forViewers`. */
  readonly page?: { readonly id: string; readonly role: PageRole; readonly name: string } | undefined;
}

/** The caller as the engine records it. */
export function toCaller({ client, token }: Pick<HttpCaller, 'client' | 'token'>): Caller {
  return { door: 'http', client, token };
}

/** Throws 403 for the page of a viewer. */
export function refuseViewer({ page }: HttpCaller): void {
  if (page?.role === 'viewer')
    throw new HttpProblem(403, 'This page may only look. To act, open a link with the role operator.');
}

/** Callers by token. */
export interface Callers {
  /** The caller with the server's own token, and its signed-in pages. */
  readonly own: HttpCaller;
  byToken(token: string): HttpCaller | undefined;
}

/** Creates the callers that `token` and `tokens` name, each with its own rules. */
export async function createCallers(deps: HttpAccess & ToolAccess, ownToken: string): Promise<Callers> {
  const { terminalShells, tokens } = deps.http;
  const ownTools = await deps.tools();
  const own = {
    client: 'token',
    owner: 'http',
    get rules() {
      return deps.shellRules();
    },
    get terminal() {
      return { shells: terminalShells, rules: deps.terminalRules() };
    },
    offered: ownTools,
    get tools() {
      return ownTools.list();
    },
  };
  const known: (readonly [Buffer, HttpCaller])[] = [[digest(ownToken), own]];
  for (const { name, sha256, allow, cwd_roots: cwdRoots, requests_per_minute } of tokens) {
    const owner = `http/${name}`;
    const share = { key: owner, of: countShares(deps.http) };
    const narrowing = { allow, cwdRoots, share, token: name, named: `the list of the token ${name}` };
    const offered = await deps.tools(narrowing);
    known.push([
      Buffer.from(sha256, 'hex'),
      {
        client: `token ${name}`,
        token: name,
        owner,
        get rules() {
          return deps.shellRules(narrowing);
        },
        // A terminal can do everything that the server's user can, so the token's own `allow` has to name the shell.
        get terminal() {
          const shells = terminalShells.filter((shell) => allow?.includes(shell));
          return { shells, rules: deps.terminalRules(narrowing) };
        },
        offered,
        get tools() {
          return offered.list();
        },
        rate: requests_per_minute === undefined ? undefined : createRateLimit(requests_per_minute),
      },
    ]);
  }
  return {
    own,
    byToken(token) {
      const sent = digest(token);
      // `filter` compares with every digest, so that the time does not reveal which one matched.
      return known.filter(([expected]) => isSameDigest(sent, expected))[0]?.[1];
    },
  };
}

/**
 * The number of callers that share the capacity that is not reserved for the owner: the named tokens, and all applets
 * together.
 */
export function countShares({ tokens, appletsDir }: Pick<HttpSettings, 'tokens' | 'appletsDir'>): number {
  return tokens.length + (appletsDir === undefined ? 0 : 1);
}
