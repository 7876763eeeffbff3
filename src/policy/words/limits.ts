/** How much of a command is analysed; a command beyond a limit is refused. */
export const limits = {
  /** Nodes, words and nested programs visited per command, plus `stepsPerCharacter` for each character of it. */
  steps: 50_000,
  stepsPerCharacter: 2,
  /** The most steps of any command, about a second on a slow machine, during which the server answers no one else. */
  maxSteps: 500_000,
  /** Nesting of shell text and substitutions: `bash -c "bash -c …"`, `$(… $(…))`. */
  depth: 32,
  /** Possible values tracked per variable. */
  values: 40,
  /** Directories tracked of a script that changes to several, below one that is not known. */
  trails: 16,
  /** Pieces (texts and holes) tracked per value. */
  pieces: 32,
  /** Combinations of possible words analysed per command. */
  combinations: 64,
  /** In a word with more parts than this, a part with several forms becomes one unknown piece. */
  formedParts: 12,
  /** Nested loops whose body `walkLoop` walks twice; in deeper loops every variable counts as unknown. */
  loops: 3,
  /** Words that one brace expansion such as `{a,b}{1..9}` may produce. */
  braceWords: 512,
  /** Braces that one word may open. */
  braces: 128,
  /** Estimated work of unbash (`parserWork`), quadratic in braces per word, nested arithmetic and heredocs. */
  parserWork: 4_000_000,
  /** Nested `$(…)`, `<(…)` and `>(…)` in one text. */
  substitutions: 512,
  /** Longest session array that is parsed; a longer one may contain code. */
  sessionArray: 4_096,
  /** Longest text tracked for a variable. */
  textLength: 16_384,
} as const;

/** Thrown when a limit is reached; `surveyCommand` turns it into a refusal. */
export class PolicyLimitError extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'PolicyLimitError';
  }
}
