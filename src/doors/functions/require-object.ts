import { NacreError } from '../../contract/failure.ts';
import { isObject } from '../../support/is-object.ts';

/** Returns the options that a program passes to a function; JavaScript would spread a number or a string without an error. */
export function requireObject<Options extends object>(options: Options, name: string): Options {
  if (isObject(options)) return options;
  throw new NacreError(
    'invalid_request',
    `The options of ${name} must be an object, not ${toShown(options)}.`,
    {
      hint: `Correct the call of ${name}; nothing was run.`,
    },
  );
}

function toShown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
}
