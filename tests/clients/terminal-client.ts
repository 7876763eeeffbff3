import { spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';
import type { Launch } from './drivers.ts';
import { findProgram } from './find-program.ts';
import type { Place } from './place.ts';

/** A client at a terminal of its own. */
export interface TerminalClient {
  /** The lines that its screen shows. */
  screen(): string;
  type(keys: string): void;
  /** Waits until the screen matches, and returns it. */
  shows(pattern: RegExp, limitMs?: number): Promise<string>;
  /** Kills it, and waits for its end. */
  close(): Promise<void>;
}

/** Starts a client at a terminal. */
export function openClient(name: string, { project, env }: Place, launch: Launch): TerminalClient {
  const [program = '', ...words] = findProgram(name) ?? [];
  const size = { cols: 120, rows: 40 };
  const pty = spawn(program, [...words, ...launch.args], {
    ...size,
    cwd: project,
    env: { ...env, ...launch.env, COLORTERM: 'truecolor' },
  });
  const terminal = new headless.Terminal({ ...size, allowProposedApi: true });
  pty.onData((data) => terminal.write(data));
  // Clients ask the terminal for its colours and cursor, and some wait for the answer.
  terminal.onData((answer) => pty.write(answer));
  const ended = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  const screen = () => {
    const { active } = terminal.buffer;
    const rows = Array.from({ length: size.rows }, (_, row) => active.getLine(active.baseY + row));
    return rows.map((row) => row?.translateToString(true) ?? '').join('\n');
  };
  return {
    screen,
    type: (keys) => pty.write(keys),
    async shows(pattern, limitMs = 60_000) {
      for (const until = Date.now() + limitMs; Date.now() < until; await pause())
        if (pattern.test(screen())) return screen();
      throw new Error(`The screen does not show ${pattern}:\n${screen()}`);
    },
    async close() {
      pty.kill('SIGKILL');
      await ended;
      terminal.dispose();
    },
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
