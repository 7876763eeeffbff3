import type { Backend } from '../contract/backend.ts';

/** The methods of a backend that concern one job. */
export type JobMethod =
  | 'start'
  | 'read'
  | 'wait'
  | 'write'
  | 'resize'
  | 'interrupt'
  | 'stop'
  | 'observe'
  | 'awaitsInput'
  | 'settle';

/** Creates the methods of `JobMethod`; each call goes to the backend that `of` returns for its id. */
export function jobMethods(of: (id: string) => Backend): Pick<Backend, JobMethod> {
  return {
    start: async (id) => of(id).start(id),
    read: async (id, from, query) => of(id).read(id, from, query),
    wait: async (id, waitMs) => of(id).wait(id, waitMs),
    write: async (id, data, more) => of(id).write(id, data, more),
    resize: async (id, size) => of(id).resize(id, size),
    interrupt: async (id) => of(id).interrupt(id),
    stop: async (id, how) => of(id).stop(id, how),
    observe: async (id) => of(id).observe(id),
    awaitsInput: async (id) => of(id).awaitsInput(id),
    settle: async (id) => of(id).settle(id),
  };
}
