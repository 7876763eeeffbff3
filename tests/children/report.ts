/** Prints the JSON that `runChild` returns. */
export function report(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
