/** The capabilities that a server declares to a client. */
export const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
};

/** How a server introduces itself to a client. */
export function serverInfo(version: string) {
  return { name: 'nacre', title: 'nacre', version };
}
