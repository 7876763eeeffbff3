import { spawn } from '@lydell/node-pty';
import { builtCli } from './build.ts';
import { type Place, sleep } from './nacre.ts';

/** The built command line on a real pseudo-terminal. */
export interface Terminal {
  /** All output so far, including control sequences. */
  text(): string;
  type(text: string): void;
  /** Waits until the output matches. */
  shows(pattern: RegExp | string, limitMs?: number): Promise<void>;
  readonly ended: Promise<number>;
}

/** Starts the built command line on a new pseudo-terminal. */
export function openTerminal(argv: readonly string[], { cwd, env }: Place, cols = 200): Terminal {
  const terminal = spawn(process.execPath, [builtCli, ...argv], { cwd, env: { ...env }, cols, rows: 24 });
  let text = '';
  terminal.onData((data) => {
    text += data;
  });
  return {
    text: () => text,
    type: (keys) => terminal.write(keys),
    async shows(pattern, limitMs = 15_000) {
      for (let waited = 0; waited < limitMs; waited += 20) {
        if (text.match(pattern)) return;
        await sleep(20);
      }
      throw new Error(`${pattern} was not shown: ${JSON.stringify(text)}`);
    },
    ended: new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode))),
  };
}
