import type { StopOptions } from '../../contract/backend.ts';

/** What a tree is asked with before it is killed, each for the time of the grace. */
export function politeSignals(first: StopOptions['signal']): readonly ('SIGINT' | 'SIGTERM')[] {
  if (first === 'SIGINT') return ['SIGINT', 'SIGTERM'];
  return first === 'SIGTERM' ? ['SIGTERM'] : [];
}
