import type { CommandRequest } from '../../contract/request.ts';
import { findSpacedWords, quoteSpacedPaths } from '../../policy/spaced-paths.ts';
import type { EngineParts } from '../run.ts';

type Quotable = Pick<CommandRequest, 'command' | 'cwd' | 'session' | 'quotePaths'>;

/** The command with quotes around paths with spaces that lack them; policy judges what comes out of it. */
export async function quotePaths(
  { backend }: EngineParts,
  request: Quotable,
): Promise<CommandRequest['command']> {
  const { command, cwd, session } = request;
  if (!request.quotePaths || command.kind === 'argv') return command;
  const groups = candidatesIn(command.script);
  if (groups.length === 0) return command;
  const paths = [...new Set(groups.flatMap(({ words }) => [words.join(' '), ...words]))];
  const { existing = [] } = await backend.inspect({ cwd, roots: [], programs: [], session, paths });
  return { kind: 'shell', script: quoteSpacedPaths(command.script, groups, new Set(existing)) };
}

// Two neighbouring words that are no options: most commands have none, and need no second look.
const neighbours = /[\w./] [\w./]/;
const longest = 8_192;

function candidatesIn(script: string) {
  if (script.length > longest || !neighbours.test(script)) return [];
  try {
    return findSpacedWords(script);
  } catch {
    // What is too deep to be looked at is refused by the policy.
    return [];
  }
}
