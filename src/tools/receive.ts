import type { z } from 'zod';
import { NacreError } from '../contract/failure.ts';
import { didYouMean } from '../settings/nearest.ts';

/** Checks a tool's input; the error lists every problem at once, each with its field. */
export function receive<Input extends z.ZodObject>(
  tool: string,
  input: Input,
  raw: unknown,
): z.output<Input> {
  const parsed = input.safeParse(raw ?? {}, { error: toPredicate });
  if (parsed.success) return parsed.data;
  const problems = toProblems(parsed.error, Object.keys(input.shape)).map(({ sentence }) => sentence);
  throw new NacreError('invalid_request', `Invalid input for ${tool}: ${problems.join('; ')}.`, {
    hint: `Correct what is named and call ${tool} again; nothing was run.`,
    details: { problems },
  });
}

/** What is wrong with a value, and where in it. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly sentence: string;
}

/** Every problem of a value that a schema does not take, in words; `known` are the names of its fields. */
export function toProblems({ issues }: z.core.$ZodError, known: readonly string[]): readonly Problem[] {
  return issues.flatMap((issue) =>
    toSentences(issue, known).map((sentence, index) => {
      const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(index, index + 1) : [];
      return { path: [...issue.path, ...key], sentence };
    }),
  );
}

/** The words for what a schema itself has none for. */
export const inWords = { error: toPredicate };

// Where a schema has no words of its own for what is wrong.
function toPredicate(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${kinds[issue.expected] ?? issue.expected}, not ${describe(issue.input)}`;
    case 'too_small':
      if (issue.origin === 'array') return `must have at least ${issue.minimum} entries`;
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must be at least ${issue.minimum}, not ${describe(issue.input)}`;
    case 'too_big':
      if (issue.origin === 'array') return `must have at most ${issue.maximum} entries`;
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
      return `must be at most ${issue.maximum}, not ${describe(issue.input)}`;
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}, not ${describe(issue.input)}`;
    default:
      return undefined;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
  array: 'a list',
};

const longestShown = 40;

function describe(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function toSentences(issue: z.core.$ZodIssue, known: readonly string[]): readonly string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `there is no field ${quote(key)}${suggest(key, known)}`);
  }
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const field = shorten(issue.path.map(String).join('.')) || 'the input';
  if (message.startsWith(`${field} `)) return [message];
  return [/^(?:must|is) /.test(message) ? `${field} ${message}` : `${field}: ${message}`];
}

function suggest(key: string, known: readonly string[]): string {
  const longer = known.find((name) => name.startsWith(`${key}_`));
  const sentence = longer === undefined ? didYouMean(shorten(key), known) : ` Did you mean ${longer}?`;
  return sentence === '' ? '' : ` (${sentence.trim()})`;
}

function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return (text.length > longestShown ? `${text.slice(0, longestShown)}…` : text).toWellFormed();
}
