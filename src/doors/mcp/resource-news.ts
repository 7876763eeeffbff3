import type { Engine } from '../../engine/engine.ts';

/** Who hears of changes. */
export interface ResourceNews {
  listChanged(): void;
  updated(uri: string): void;
}

/** Tells of an owner's commands that begin and of what they print, until what it returns is called. */
export async function watchResources(
  { engine, owner }: { engine(): Promise<Engine>; readonly owner: string },
  news: ResourceNews,
): Promise<() => void> {
  return (await engine()).listen(owner, ({ kind, id }) => {
    if (kind === 'began') news.listChanged();
    for (const uri of [logUri(id), screenUri(id)]) news.updated(uri);
  });
}

/** The address of a command's output. */
export function logUri(id: string): string {
  return `nacre://commands/${id}/log`;
}

/** The address of what a command's terminal shows. */
export function screenUri(id: string): string {
  return `nacre://commands/${id}/screen`;
}
