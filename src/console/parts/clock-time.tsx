import { toAgo, toClock } from '../words.ts';

/** A time by the reader's clock, or how long ago it is at the time `ago`; pointing at it shows the ISO time. */
export function ClockTime({
  at,
  ago,
  withSeconds = true,
}: {
  readonly at: string;
  readonly ago?: number;
  readonly withSeconds?: boolean;
}) {
  return (
    <time dateTime={at} title={at}>
      {ago === undefined ? toClock(at, withSeconds) : toAgo(at, ago)}
    </time>
  );
}
