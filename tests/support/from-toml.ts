/** The servers of a configuration that has one of them. */
export interface OneServer {
  readonly nacre: { command: string; args: string[]; env: Record<string, string> };
}

/** Reads the entry that nacre writes into TOML. */
export function fromToml(text: string): OneServer {
  const [command = '', args = '', variables = ''] = text
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^\w+ = /, ''));
  const env = variables.replace(/(\w+) = /g, '"$1": ');
  return { nacre: { command: JSON.parse(command), args: JSON.parse(args), env: JSON.parse(env) } };
}
