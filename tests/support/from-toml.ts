/** A client configuration with nacre as its only server. */
export interface OneServer {
  readonly nacre: { command: string; args: string[]; env: Record<string, string> };
}

/** Parses the TOML entry that `nacre init` writes. */
export function fromToml(text: string): OneServer {
  const [command = '', args = '', variables = ''] = text
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^\w+ = /, ''));
  const env = variables.replace(/(\w+) = /g, '"$1": ');
  return { nacre: { command: JSON.parse(command), args: JSON.parse(args), env: JSON.parse(env) } };
}
