import type { RunContext } from '../../engine/run.ts';
import type { Tool } from '../../tools/define-tool.ts';
import type { Assembly } from '../door.ts';
import type { History } from './history.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { digest, isSame } from './secrets.ts';

/** Somebody who has shown who it is, and what it may do. */
export interface HttpCaller {
  /** Its name in the audit log. */
  readonly client: string;
  /** Whose commands it starts and sees. */
  readonly owner: string;
  readonly rules: Pick<RunContext, 'rules' | 'cwdRoots' | 'refuseSensitive'>;
  /** The shells that it may open at a terminal, and the rules for them. */
  readonly terminal: { readonly shells: readonly string[]; readonly rules: HttpCaller['rules'] };
  /** The tools that it may call; an applet has none. */
  readonly tools: readonly Tool[];
  readonly rate?: RateLimit | undefined;
}

/** Who has which token. */
export interface Callers {
  /** The holder of the server's own token, and whoever opens its pages. */
  readonly own: HttpCaller;
  byToken(token: string): HttpCaller | undefined;
}

/** Makes the callers that the settings name, each with its own rules. */
export async function createCallers(
  assembly: Assembly,
  ownToken: string,
  history: History,
): Promise<Callers> {
  const { terminalShells, tokens } = assembly.http;
  const own = {
    client: 'token',
    owner: 'http',
    get rules() {
      return assembly.shellRules();
    },
    get terminal() {
      return { shells: terminalShells, rules: assembly.terminalRules() };
    },
    tools: toldOf(await assembly.tools(), history),
  };
  const known: (readonly [Buffer, HttpCaller])[] = [[digest(ownToken), own]];
  for (const { name, sha256, allow, cwd_roots: cwdRoots, requests_per_minute } of tokens) {
    const narrowing = { allow, cwdRoots, named: `the list of the token ${name}` };
    known.push([
      Buffer.from(sha256, 'hex'),
      {
        client: `token ${name}`,
        owner: `http/${name}`,
        get rules() {
          return assembly.shellRules(narrowing);
        },
        // A shell gives all that the server's own user may do: only who is named for it may open one.
        get terminal() {
          const shells = terminalShells.filter((shell) => allow?.includes(shell));
          return { shells, rules: assembly.terminalRules(narrowing) };
        },
        tools: toldOf(await assembly.tools(narrowing), history),
        rate: requests_per_minute === undefined ? undefined : createRateLimit(requests_per_minute),
      },
    ]);
  }
  return {
    own,
    byToken(token) {
      const given = digest(token);
      // Every one is compared, so that the time does not tell which one it was.
      return known.filter(([expected]) => isSame(given, expected))[0]?.[1];
    },
  };
}

// Also what comes over MCP, where nothing else of this door is on the way.
function toldOf(tools: readonly Tool[], history: History): readonly Tool[] {
  return tools.map((tool) => ({
    ...tool,
    async call(input, context) {
      const { command } = { command: undefined, ...(input as { command?: unknown }) };
      if (typeof command !== 'string') return tool.call(input, context);
      const done = history.begin({ owner: context.owner, client: context.caller.client }, command);
      const reply = await tool.call(input, context);
      done(reply.isError ? 'failed' : 'ok');
      return reply;
    },
  }));
}
