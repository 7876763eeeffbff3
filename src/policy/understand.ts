import type { ParsedScript } from 'unbash';
import { type Command, maxCommandBytes } from '../contract/command.ts';
import type { Surroundings } from './surroundings.ts';
import { surveyCommand } from './survey-command.ts';
import { parseScript } from './walk/parse-script.ts';
import { LimitReached } from './words/limits.ts';

/** The command as parsed, with the program names that are worth looking up. */
export interface Plan {
  readonly command: Command;
  readonly surroundings: Surroundings;
  /** The parse tree of a shell command; undefined for argv and for what is too long or too deep to parse. */
  readonly script: ParsedScript | undefined;
  /** Bare names (no slash) of programs that the command would run. */
  readonly programs: readonly string[];
}

/** Parses a command, once, and lists the programs it names. */
export function understand(command: Command, surroundings: Surroundings = {}): Plan {
  return new UnderstoodCommand(command, surroundings);
}

// A class, because V8 keeps what a getter of an object literal holds, here the whole tree, until its next full collection.
class UnderstoodCommand implements Plan {
  readonly command: Command;
  readonly surroundings: Surroundings;
  readonly script: ParsedScript | undefined;
  private names: readonly string[] | undefined;

  constructor(command: Command, surroundings: Surroundings) {
    this.command = command;
    this.surroundings = surroundings;
    this.script = parsed(command);
  }

  get programs(): readonly string[] {
    this.names ??= namesIn(this);
    return this.names;
  }
}

/** Undefined for argv and for text beyond what is parsed, which is refused. */
function parsed(command: Command): ParsedScript | undefined {
  if (command.kind !== 'shell' || command.script.length > maxCommandBytes) return undefined;
  try {
    return parseScript(command.script);
  } catch (error) {
    if (error instanceof LimitReached) return undefined;
    throw error;
  }
}

function namesIn(plan: Plan): readonly string[] {
  const { invocations } = surveyCommand(plan, { home: '/root', cwd: undefined, session: undefined });
  const names = invocations.filter((found) => found.needsListing).map((found) => found.name);
  return [...new Set(names)].filter((name) => name !== '' && !name.includes('/'));
}
