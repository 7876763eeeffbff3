// Commands that write numbered lines of equal length, so that every byte of their output is known.

/** A command that writes numbered lines at a given speed, then exits. */
export interface Writer {
  readonly name: string;
  readonly lineBytes: number;
  readonly totalBytes: number;
  readonly exitCode: number;
  readonly command: string;
}

const program = [
  'my ($rate, $width, $count, $code) = @ARGV; my ($line, $start) = (0, time);',
  'while ($line < $count) {',
  '  my $due = int((time - $start) * $rate / $width) + 1; $due = $count if $due > $count;',
  '  my $text = ""; $text .= sprintf("%0*d\\n", $width - 1, ++$line) while $line < $due;',
  '  while (length $text) { my $n = syswrite(STDOUT, $text) or die; substr($text, 0, $n) = ""; }',
  '  select(undef, undef, undef, 0.05);',
  '} exit $code',
].join(' ');

/** A writer of at most `seconds` at `bytesPerSecond`, if the machine is that fast, and of at most `maxBytes`. */
export function createWriter(
  name: string,
  { bytesPerSecond, seconds, maxBytes, exitCode }: WriterSpeed,
): Writer {
  const lineBytes = bytesPerSecond < 100_000 ? 20 : 1_000;
  const lines = Math.max(1, Math.floor(Math.min(bytesPerSecond * seconds, maxBytes) / lineBytes));
  const words = [bytesPerSecond, lineBytes, lines, exitCode].map(Math.round).join(' ');
  // The program ignores its name, by which tests find its processes.
  const command = `exec perl -MTime::HiRes=time -e '${program}' ${words} ${name}`;
  return { name, lineBytes, totalBytes: lines * lineBytes, exitCode, command };
}

interface WriterSpeed {
  readonly bytesPerSecond: number;
  readonly seconds: number;
  readonly maxBytes: number;
  readonly exitCode: number;
}

/** The output of a writer from one cursor to another. */
export function expectedOutput({ lineBytes }: Pick<Writer, 'lineBytes'>, from: number, to: number): string {
  const first = Math.floor(from / lineBytes);
  const lines: string[] = [];
  for (let line = first; line * lineBytes < to; line += 1)
    lines.push(`${String(line + 1).padStart(lineBytes - 1, '0')}\n`);
  const skip = from - first * lineBytes;
  return lines.join('').slice(skip, skip + to - from);
}

/** The position of the first byte that differs from the output of a writer; undefined if none does. */
export function firstDifference(writer: Writer, from: number, data: string): number | undefined {
  const expected = expectedOutput(writer, from, from + data.length);
  if (data === expected) return undefined;
  const at = [...data].findIndex((char, index) => char !== expected[index]);
  return from + at;
}
