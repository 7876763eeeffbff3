import { addAbortSignal, type Readable } from 'node:stream';
import { cancelled, NacreError } from '../../contract/failure.ts';
import { inputText } from '../../contract/request.ts';

const maxBytes = 8_388_608;

/** The text for a command's stdin: the value of `--input`, or all of nacre's stdin for `-`. */
export async function readInput(
  given: string | undefined,
  stdin: Readable,
  interrupted: AbortSignal,
): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const parsed = inputText.safeParse(given === '-' ? await readAll(stdin, interrupted) : given);
  if (parsed.success) return parsed.data;
  throw invalid(`${parsed.error.issues[0]?.message}.`);
}

async function readAll(stdin: Readable, interrupted: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(interrupted, stdin)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) throw invalid(`stdin has more than ${maxBytes} bytes.`);
    }
  } catch (error) {
    if (interrupted.aborted) throw cancelled('Interrupted while reading stdin; nothing was run.');
    throw error;
  }
  return decode(Buffer.concat(chunks));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid('stdin is not valid UTF-8.');
  }
}

function invalid(reason: string): NacreError {
  return new NacreError('invalid_request', `--input: ${reason}`, {
    hint: 'Write it to a file and redirect stdin from it in the command; nothing was run.',
  });
}
