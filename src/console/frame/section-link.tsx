import type { ComponentChildren } from 'preact';
import { Icon } from '../parts/icon.tsx';
import { place } from '../router.ts';
import { type Section, toAddress } from './sections.ts';

/** A link to a page of the console, marked on the current page. `children` replace its label. */
export function SectionLink({
  section: [path, label, icon],
  title,
  children = label,
}: {
  readonly section: Section;
  readonly title?: string;
  readonly children?: ComponentChildren;
}) {
  const [current = ''] = place.value.path;
  return (
    <a href={toAddress(path)} aria-current={current === path ? 'page' : undefined} title={title}>
      <Icon name={icon} />
      {children}
    </a>
  );
}
