/** The icons of the page. They add nothing to the words beside them. */
import { svg } from '../dom.ts';

const PATHS = {
  check: ['M4 12.5l5 5L20 6.5'],
  cross: ['M6 6l12 12M18 6L6 18'],
  turn: ['M20 12a8 8 0 1 1-3-6.2'],
  clock: ['M12 7v5l3.5 2', 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z'],
  key: ['M14.5 9.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0z', 'M13.2 12.7L20 19.5M17 16.5l-2 2'],
  pen: ['M4 20l4.5-1L20 7.5 16.5 4 5 15.5 4 20z', 'M14 6.5l3.5 3.5'],
  box: ['M4 8l8-4 8 4v8l-8 4-8-4V8z', 'M4 8l8 4 8-4M12 12v8'],
  list: ['M9 6h11M9 12h11M9 18h11', 'M4.5 6h.01M4.5 12h.01M4.5 18h.01'],
  seal: ['M12 3l7 3v5.5c0 4.5-3 7.8-7 9.5-4-1.7-7-5-7-9.5V6l7-3z', 'M8.5 12l2.5 2.5 4.5-5'],
  halves: [
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z',
    'M12 3.5v17',
    'M12 8h6M12 12h8M12 16h6',
  ],
} as const;

export type IconName = keyof typeof PATHS;

/** @returns an icon that assistive technology ignores */
export function icon(name: IconName): SVGElement {
  return svg(
    'svg',
    { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' },
    PATHS[name].map((d) => svg('path', { d })),
  );
}
