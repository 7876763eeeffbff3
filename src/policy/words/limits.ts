/** How much of a command is looked at; what goes beyond is refused, never passed. */
export const limits = {
  /** Nodes, words and nested programs visited for one command, and how many more for each character of it. */
  steps: 50_000,
  stepsPerCharacter: 2,
  /** Shell text and substitutions inside each other: `bash -c "bash -c …"`, `$(… $(…))`. */
  depth: 32,
  /** Possible values kept for one variable. */
  values: 16,
  /** Pieces of text and holes kept for one value. */
  pieces: 32,
  /** Combinations of possible words looked at for one command. */
  combinations: 64,
  /** Parts of a text up to which their forms are told apart. */
  formedParts: 12,
  /** Loops inside loops whose rounds are told apart. */
  loops: 3,
  /** Words that one brace expansion may give. */
  braceWords: 512,
  /** Braces that one word may open. */
  braces: 128,
  /** What the parser may have to do over again: the square of the braces in one word, of nested arithmetic and of heredocs. */
  parserWork: 4_000_000,
  /** Substitutions inside substitutions that one text may open. */
  substitutions: 512,
  /** Longest text of a session's array that is read; code in a longer one cannot be ruled out. */
  sessionArray: 4_096,
  /** Longest text that is kept for a variable. */
  textLength: 16_384,
} as const;

/** Thrown inside the walk when a limit is reached; the survey turns it into a refusal. */
export class PolicyLimitError extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'PolicyLimitError';
  }
}
