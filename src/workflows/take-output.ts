import { NacreError } from '../contract/failure.ts';
import { maxVariableBytes } from '../contract/request.ts';
import type { EndedStep } from './run-step.ts';
import type { PlannedStep } from './schema.ts';

/** As much of an output as a later step can take: what a command takes on its stdin. */
export const mostOutputBytes = 8_388_608;

/** The variables that a step takes from the outputs of earlier ones. */
export function toVariables(
  { env_from = {} }: PlannedStep,
  earlier: ReadonlyMap<string, EndedStep>,
): Record<string, string> {
  const entries = Object.entries(env_from).map(([name, from]) => {
    // As the shell's own $(…) does it.
    const value = takeText(from, earlier).replace(/\n+$/, '');
    if (value.includes('\0')) throw unusable(from, `has a NUL byte, which the variable ${name} cannot hold`);
    if (Buffer.byteLength(value) > maxVariableBytes)
      throw unusable(from, `has more than the ${maxVariableBytes} bytes that the variable ${name} can hold`);
    return [name, value];
  });
  return Object.fromEntries(entries);
}

/** Which output of which step. */
export type Source = NonNullable<PlannedStep['input_from']>;

/** The whole output of an earlier step; throws where it cannot be a text for a command. */
export function takeText(from: Source, earlier: ReadonlyMap<string, EndedStep>): string {
  const bytes = earlier.get(from.step)?.outputs[from.stream];
  if (bytes === undefined) throw unusable(from, 'is not there');
  if (bytes.length > mostOutputBytes) throw unusable(from, `has more than ${mostOutputBytes} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(from, 'is not valid UTF-8');
  }
}

function unusable({ step, stream }: Source, why: string): NacreError {
  return new NacreError('invalid_request', `The ${stream} of step ${step} ${why}.`, {
    hint: 'Let that step write a file, and name the file here.',
  });
}
