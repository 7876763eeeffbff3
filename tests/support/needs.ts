import type { TestContext } from 'vitest';
import { type SupervisionLevel, supervisionLevels } from '../../src/contract/isolation.ts';
import { loadPty } from '../../src/worker/terminal/load-pty.ts';
import { isInstalled } from './program-needs.ts';
import { createTestWorker } from './worker.ts';

export type Skippable = Pick<TestContext, 'skip'>;

/** Skips a test where commands cannot be supervised at `level`, as without bubblewrap or user namespaces. */
export async function needLevel({ skip }: Skippable, level: SupervisionLevel): Promise<void> {
  const problem = await probeLevel(level);
  skip(problem !== null, `level ${level} is not available: ${problem}`);
}

/** The best supervision level that works on this machine. */
export async function bestLevel(): Promise<SupervisionLevel> {
  for (const level of [...supervisionLevels].reverse()) if ((await probeLevel(level)) === null) return level;
  return 'group';
}

/** Skips a test that runs programs which are not installed. */
export function needPrograms({ skip }: Skippable, ...names: readonly string[]): void {
  const missing = names.filter((name) => !isInstalled(name));
  skip(missing.length > 0, `not installed: ${missing.join(', ')}`);
}

/** Skips a test that only root can run, for example because it gives files to another user. */
export function needRoot({ skip }: Skippable): void {
  skip(process.getuid?.() !== 0, 'only root can run it');
}

/** Skips a test where the kernel cannot enforce a list of programs, as without Landlock or the package koffi. */
export async function needLandlock({ skip }: Skippable): Promise<void> {
  landlock ??= reportLandlock();
  const found = await landlock;
  skip(found !== 'available', `Landlock is ${found}`);
}

/** Skips a test that needs the optional package for terminals. */
export async function needPty({ skip }: Skippable): Promise<void> {
  const isInstalled = await loadPty().then(
    () => true,
    () => false,
  );
  skip(!isInstalled, 'the package @lydell/node-pty is not installed');
}

const probes = new Map<SupervisionLevel, Promise<string | null>>();
let landlock: Promise<string> | undefined;

function probeLevel(level: SupervisionLevel): Promise<string | null> {
  const known = probes.get(level) ?? tryLevel(level);
  probes.set(level, known);
  return known;
}

async function tryLevel(level: SupervisionLevel): Promise<string | null> {
  const here = createTestWorker({ highestLevel: level, supervisionRequire: level });
  try {
    await here.run('true');
    return null;
  } catch (error) {
    return String(error);
  } finally {
    await here.close();
  }
}

async function reportLandlock(): Promise<string> {
  const here = createTestWorker();
  try {
    return (await here.worker.report()).landlock;
  } finally {
    await here.close();
  }
}
