import type { Command, CommandContext } from '../contract/command.ts';
import type { Decision, Rules } from '../contract/decision.ts';
import type { Facts, SessionFacts } from '../contract/facts.ts';
import { decide } from './decide.ts';
import { understand } from './understand.ts';

const maxDecisions = 512;
const maxKeyChars = 8_192;

/**
 * Remembers decisions, since agents repeat commands. `decide` is pure and its arguments are plain data, so their JSON text
 * identifies a decision: a change of rules, directory, roots, variables or stdin is another key, and so is another state of a session.
 */
export class DecisionCache {
  readonly #decisions = new Map<string, Decision>();
  readonly #rulesText = new WeakMap<Rules, string>();
  readonly #sessionNumbers = new WeakMap<SessionFacts, number>();
  #lastSessionNumber = 0;

  /** Parses the command and decides about it, or returns the decision for the same arguments. */
  decide(command: Command, context: CommandContext, facts: Facts, rules: Rules): Decision {
    const { session, ...others } = facts;
    const key =
      JSON.stringify([command, context, others, session && this.#numberOf(session)]) + this.#textOf(rules);
    const known = this.#decisions.get(key);
    if (known !== undefined) return known;
    const decision = decide(understand(command, context), facts, rules);
    if (key.length <= maxKeyChars) this.#add(key, decision);
    return decision;
  }

  #add(key: string, decision: Decision): void {
    if (this.#decisions.size >= maxDecisions) this.#decisions.clear();
    this.#decisions.set(key, decision);
  }

  // The state of a persistent shell would make a large key. The worker makes another object for each state (`ReportedState`).
  #numberOf(session: SessionFacts): number {
    const known = this.#sessionNumbers.get(session);
    if (known !== undefined) return known;
    this.#lastSessionNumber += 1;
    this.#sessionNumbers.set(session, this.#lastSessionNumber);
    return this.#lastSessionNumber;
  }

  #textOf(rules: Rules): string {
    const known = this.#rulesText.get(rules);
    if (known !== undefined) return known;
    const text = JSON.stringify(rules);
    this.#rulesText.set(rules, text);
    return text;
  }
}
