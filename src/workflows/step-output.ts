import { NacreError } from '../contract/failure.ts';
import { maxVariableBytes } from '../contract/request.ts';
import { withoutTrailing } from '../support/without-trailing.ts';
import type { EndedStep } from './events.ts';
import type { PlannedStep } from './schema.ts';

/** Maximum output that a later step can use, equal to the limit of `inputText`. */
export const maxOutputBytes = 8_388_608;

/** Returns the variables of a step that come from the output of earlier ones (`env_from`). */
export function toVariables(
  { env_from = {} }: PlannedStep,
  ended: ReadonlyMap<string, EndedStep>,
): Record<string, string> {
  const entries = Object.entries(env_from).map(([name, source]) => {
    // Strips trailing newlines like `$(…)` in bash.
    const value = withoutTrailing(outputText(source, ended), '\n');
    if (value.includes('\0')) throw unusable(source, `has a NUL byte, which variable ${name} cannot contain`);
    if (Buffer.byteLength(value) > maxVariableBytes)
      throw unusable(source, `has more than the ${maxVariableBytes} bytes that variable ${name} can contain`);
    return [name, value];
  });
  return Object.fromEntries(entries);
}

// The field that each tool passes to its command as stdin. Output must not get into any other field, where it could become code.
const stdinFields: ReadonlyMap<string, string> = new Map([
  ['execute_command', 'input'],
  ['shell_execute', 'stdin'],
]);

/** The field that a tool passes to its command as stdin, if it has one. */
export function stdinFieldOf(tool: string): string | undefined {
  return stdinFields.get(tool);
}

/** The input of a tool: `with`, and the output of an earlier step as stdin (`input_from`). */
export function toToolInput(
  { with: fields = {}, input_from }: PlannedStep,
  tool: string,
  ended: ReadonlyMap<string, EndedStep>,
): Readonly<Record<string, unknown>> {
  const field = stdinFieldOf(tool);
  if (input_from === undefined || field === undefined) return fields;
  return { ...fields, [field]: outputText(input_from, ended) };
}

type Source = NonNullable<PlannedStep['input_from']>;

/** Returns the whole output of an earlier step; throws if it exceeds `maxOutputBytes` or is not UTF-8. */
export function outputText(source: Source, ended: ReadonlyMap<string, EndedStep>): string {
  const bytes = ended.get(source.step)?.outputs[source.stream];
  if (bytes === undefined) throw unusable(source, 'does not exist');
  if (bytes.length > maxOutputBytes) throw unusable(source, `has more than ${maxOutputBytes} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(source, 'is not valid UTF-8');
  }
}

function unusable({ step, stream }: Source, problem: string): NacreError {
  return new NacreError('invalid_request', `The ${stream} of step ${step} ${problem}.`, {
    hint: 'Write a file in that step, and pass its path to this one.',
  });
}
