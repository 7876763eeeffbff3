// Names the server that has created a container, so that another one can remove it once that server is dead.
import { isAlive, ownIdentity } from '../../support/process-identity.ts';

/** The label of everything that nacre creates on an engine; its value is `serverLabel()`. */
export const serverLabelName = 'io.github.nacre.server';

/** This process as the value of a label. */
export function serverLabel(): string {
  const { boot, namespace, pid, startTime } = ownIdentity();
  return [boot, namespace, pid, startTime].join(' ');
}

/** Whether the server that wrote a label is dead; false if that cannot be known from here. */
export function isAbandoned(label: string): boolean {
  const [boot = '', namespace = '', pid = '', startTime = ''] = label.split(' ');
  if (boot === '' || namespace === '' || startTime === '' || !/^[1-9]\d{0,9}$/.test(pid)) return false;
  // A different boot id may belong to another machine that uses the same engine.
  return isAlive({ boot, namespace, pid: Number(pid), startTime }, '') === false;
}
