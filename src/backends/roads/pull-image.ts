import type { EngineApi } from './engine-api.ts';

/** Pulls an image; rejects with the engine's own error message. */
export async function pullImage(api: EngineApi, image: string): Promise<void> {
  let failure: string | undefined;
  // A slow registry is silent for a long time.
  const request = {
    method: 'POST',
    path: '/images/create',
    query: toQuery(image),
    silentMs: 300_000,
  } as const;
  await api.follow(request, ({ error }) => {
    if (typeof error === 'string') failure = error;
  });
  if (failure !== undefined) throw new Error(failure);
}

// Without a tag, the engine would pull all of them.
function toQuery(image: string): Readonly<Record<string, string>> {
  if (image.includes('@')) return { fromImage: image };
  const at = image.lastIndexOf(':');
  if (at <= image.lastIndexOf('/')) return { fromImage: image, tag: 'latest' };
  return { fromImage: image.slice(0, at), tag: image.slice(at + 1) };
}
