const shapes = {
  now: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  commands: 'm2.5 4.5 3.5 3.5-3.5 3.5M8 12h5.5',
  agents: 'M2 3.5h6M5 8h7M9 12.5h5',
  approvals:
    'M8 1.8 13.5 4v3.6c0 3.2-2.2 5.5-5.5 6.6-3.3-1.1-5.5-3.4-5.5-6.6V4L8 1.8ZM5.7 7.9l1.7 1.7 3.1-3.3',
  audit:
    'M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7l.9-.9',
  server: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  search: 'M11.2 7a4.2 4.2 0 1 1-8.4 0 4.2 4.2 0 0 1 8.4 0ZM10.2 10.2l3.3 3.3',
  stop: 'M4.5 4.5h7v7h-7z',
  moon: 'M13.3 9.7A5.7 5.7 0 0 1 6.3 2.7a5.7 5.7 0 1 0 7 7Z',
  sun: 'M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  clock: 'M13.7 8A5.7 5.7 0 1 1 2.3 8a5.7 5.7 0 0 1 11.4 0ZM8 4.8V8l2.2 1.5',
  wrap: 'M2.5 4h11M2.5 8h8.7a2 2 0 0 1 0 4H8.5M10 10.3 8.3 12l1.7 1.7M2.5 12H5',
  up: 'M4 10l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.5v9l7-4.5z',
  link: 'M6.5 9.5l3-3M7.5 4.5l1.2-1.2a2.7 2.7 0 0 1 3.9 3.9L11.4 8.4M8.5 11.5l-1.2 1.2a2.7 2.7 0 0 1-3.9-3.9L4.6 7.6',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  close: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof shapes;

/** An icon of 16 by 16; the text beside it, or `aria-label`, says what it means. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" class={`i i-${name}`}>
      <path d={shapes[name]} />
    </svg>
  );
}

/** The mark of nacre: mother-of-pearl. */
export function Logo() {
  return (
    <svg viewBox="0 0 24 24" class="logo" aria-hidden="true">
      <defs>
        <linearGradient id="pearl" x1="0" y1="0" x2="1" y2="1">
          <stop offset="0" stop-color="#3fb79b" />
          <stop offset=".42" stop-color="#6fa6e8" />
          <stop offset=".72" stop-color="#b493e6" />
          <stop offset="1" stop-color="#f0a98f" />
        </linearGradient>
      </defs>
      <circle cx="12" cy="12" r="11" fill="url(#pearl)" />
      <path
        d="M4.6 15.2a8 8 0 0 1 14.8 0M7.2 17.6a5.4 5.4 0 0 1 9.6 0M9.8 19.8a2.9 2.9 0 0 1 4.4 0"
        fill="none"
        stroke="#fff"
        stroke-width="1.6"
        stroke-linecap="round"
      />
    </svg>
  );
}
