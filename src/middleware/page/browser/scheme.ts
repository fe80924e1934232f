/** Light, dark, or as the system says: a button cycles through them, and the browser remembers. */
import { announce, fill } from './dom.ts';
import { icon } from './parts/icons.ts';

const SCHEMES = ['auto', 'light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

const NAMES: Readonly<Record<Scheme, string>> = { auto: 'Auto', light: 'Light', dark: 'Dark' };

const PLACE = 'falconry colours';

/** Makes the button work, and applies the last choice. */
export function startScheme(button: HTMLElement): void {
  let scheme = remembered();
  const show = () => {
    fill(button, icon('halves'), NAMES[scheme]);
    button.setAttribute('aria-label', `Colours: ${NAMES[scheme]}`);
    if (scheme === 'auto') delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = scheme;
  };
  button.addEventListener('click', () => {
    scheme = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length]!;
    try {
      localStorage.setItem(PLACE, scheme);
    } catch {}
    show();
    announce(`Colours: ${NAMES[scheme]}`);
  });
  show();
}

function remembered(): Scheme {
  try {
    const text = localStorage.getItem(PLACE);
    return SCHEMES.find((scheme) => scheme === text) ?? 'auto';
  } catch {
    return 'auto';
  }
}
