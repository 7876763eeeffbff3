import { readFileSync } from 'node:fs';

/** A command that coding agents often run. */
export interface UsualCommand {
  readonly command: string;
  /** The hosts that it has to reach; such a command is judged, but never run. */
  readonly hosts?: readonly string[];
  /** False if it is only judged, because it needs packages that are not installed here. */
  readonly run?: boolean;
  /** Programs besides those in every test environment; it runs only where they are installed. */
  readonly needs?: readonly string[];
  /** The exit code; 0 by default. */
  readonly exit?: number;
}

/** The kinds of projects, with the files that mark each. */
export const projects = {
  node: ['package.json'],
  python: ['pyproject.toml', 'requirements.txt'],
  go: ['go.mod'],
  rust: ['Cargo.toml'],
  mixed: ['package.json', 'pyproject.toml', 'go.mod', 'Cargo.toml'],
} as const;

/** One of `projects`. */
export type Project = keyof typeof projects;

/** The names of `projects`. */
export const projectNames = Object.keys(projects) as Project[];

/** Reads one file of commands, `NAME.jsonl` beside this one. */
export function readUsualCommands(name: Project | 'common'): readonly UsualCommand[] {
  const text = readFileSync(new URL(`${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as UsualCommand);
}
