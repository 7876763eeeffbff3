import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A placeholder of grey bars while content is loading, shown after 150 ms; `page` adds the page's heading. */
export function Loading({ page }: { readonly page?: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status" aria-label="Loading">
      {page !== undefined && <h1 class="sr">{page}</h1>}
      {isShown && [70, 90, 50].map((width) => <span key={width} style={{ width: `${width}%` }} />)}
    </div>
  );
}

/** A state without content, in words. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** A list whose filters match nothing; `FilterChips` are above it. */
export function NoMatch({ title }: { readonly title: string }) {
  return (
    <Empty title={title}>
      <p class="soft">Remove a filter above, or clear them all.</p>
    </Empty>
  );
}

/** An error of the server, with the next step; as a whole page it has the page's heading. */
export function Failure({
  error,
  onRetry,
  isPage = false,
}: {
  readonly error: Error & { hint?: string };
  readonly onRetry?: () => void;
  readonly isPage?: boolean;
}) {
  return (
    <div class="empty" role="alert">
      {isPage ? <h1 class="empty-title">{error.message}</h1> : <p class="empty-title">{error.message}</p>}
      {error.hint && <p>{error.hint}</p>}
      {onRetry && (
        <button class="btn" type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
