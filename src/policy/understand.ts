import type { ParsedScript } from 'unbash';
import { type Command, maxCommandBytes } from '../contract/command.ts';
import type { CommandContext, Plan } from './plan.ts';
import { surveyCommand } from './survey-command.ts';
import { parseScript } from './walk/parse-script.ts';
import { PolicyLimitError } from './words/limits.ts';

/** Parses a command once and lists the programs it names. */
export function understand(command: Command, context: CommandContext = {}): Plan {
  return new UnderstoodCommand(command, context);
}

// A class: V8 keeps what the getter of an object literal captures (here the parse tree) alive until the next full GC.
class UnderstoodCommand implements Plan {
  readonly command: Command;
  readonly context: CommandContext;
  readonly script: ParsedScript | undefined;
  private names: readonly string[] | undefined;

  constructor(command: Command, context: CommandContext) {
    this.command = command;
    this.context = context;
    this.script = parsed(command);
  }

  get programs(): readonly string[] {
    this.names ??= namesIn(this);
    return this.names;
  }
}

/** Returns undefined for an argv command, and for text beyond the parser's limits, which `decide` refuses. */
function parsed(command: Command): ParsedScript | undefined {
  if (command.kind !== 'shell' || command.script.length > maxCommandBytes) return undefined;
  try {
    return parseScript(command.script);
  } catch (error) {
    if (error instanceof PolicyLimitError) return undefined;
    throw error;
  }
}

function namesIn(plan: Plan): readonly string[] {
  const { invocations } = surveyCommand(plan, { home: '/root', cwd: undefined, session: undefined });
  const names = invocations.filter((found) => found.needsListing).map((found) => found.name);
  return [...new Set(names)].filter((name) => name !== '' && !name.includes('/'));
}
