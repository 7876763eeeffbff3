// Opens a page in the user's own browser, for `nacre open`. It is in src/worker because only code there may spawn
// processes.
import { spawn } from 'node:child_process';
import { settlesWithin } from '../../support/timing.ts';

/** The facts about the machine that determine its browsers. */
export interface BrowserMachine {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs the first program that opens the link; false if there is none. The program may keep running. */
export async function openBrowser(link: string, machine: BrowserMachine): Promise<boolean> {
  for (const command of browserCommands(link, machine)) if (await starts(command, machine.env)) return true;
  return false;
}

/** The command lines to try in turn: those in `$BROWSER`, then the one of the platform. */
export function browserCommands(link: string, { platform, env }: BrowserMachine): readonly string[][] {
  const named = (env.BROWSER ?? '').split(':').filter((command) => command.trim() !== '');
  return [
    ...named.map((command) => fillIn(command, link)),
    ...platformCommands(platform, env).map((one) => [one, link]),
  ];
}

// `$BROWSER` may contain `%s` where the link belongs.
function fillIn(command: string, link: string): string[] {
  const words = command.trim().split(/\s+/);
  return command.includes('%s') ? words.map((word) => word.replaceAll('%s', link)) : [...words, link];
}

function platformCommands(platform: string, env: BrowserMachine['env']): readonly string[] {
  if (platform === 'darwin') return ['open'];
  const isWindows = Boolean(env.WSL_DISTRO_NAME);
  // Without a display, `xdg-open` would start a text browser or wait for one.
  const hasDisplay = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  return [...(isWindows ? ['wslview'] : []), ...(hasDisplay ? ['xdg-open'] : [])];
}

// `xdg-open` and `open` exit once the browser has the link; a browser named in `$BROWSER` may stay in the foreground.
async function starts(
  [program = '', ...args]: readonly string[],
  env: BrowserMachine['env'],
): Promise<boolean> {
  const child = spawn(program, args, { env: { ...env }, stdio: 'ignore', detached: true });
  child.unref();
  let isStarted = true;
  const ended = new Promise<void>((resolve) => {
    const end = (works: boolean) => {
      isStarted = works;
      resolve();
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
  });
  await settlesWithin(ended, failsWithinMs);
  return isStarted;
}

const failsWithinMs = 3_000;
