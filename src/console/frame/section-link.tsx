import type { ComponentChildren } from 'preact';
import { Icon } from '../parts/icon.tsx';
import { place } from '../router.ts';
import { type Section, toAddress } from './sections.ts';

/** The link to a page, which is marked on that page. `children` replace its label. */
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
