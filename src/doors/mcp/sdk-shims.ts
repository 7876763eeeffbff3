import process from 'node:process';

/** Replaces the SDK's JSON Schema compiler, which only checks elicitation answers: `elicit-approval.ts` uses zod. */
export class DefaultJsonSchemaValidator {
  getValidator() {
    return (data: unknown) => ({ valid: true, data, errorMessage: undefined });
  }
}

export { process };
