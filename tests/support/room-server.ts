import type { Worker } from '../../src/worker/worker.ts';
import { sleep } from './nacre.ts';

/** A script that serves a text over HTTP on a port of loopback, with the Node that runs the tests. */
export function serverScript(port: number, text: string): string {
  const program = `require('node:http').createServer((q, r) => r.end(${JSON.stringify(text)})).listen(${port}, '127.0.0.1')`;
  return `'${process.execPath}' -e "${program.replaceAll('"', '\\"')}"`;
}

/** Resolves when a command listens on a port; throws if it has ended. */
export async function waitForPort(
  { observe, wait }: Pick<Worker, 'observe' | 'wait'>,
  id: string,
  port: number,
): Promise<void> {
  while (!(await observe(id)).listening.includes(port)) {
    if ((await wait(id, 0)).end) throw new Error(`${id} has ended and does not listen on ${port}`);
    await sleep(20);
  }
}
