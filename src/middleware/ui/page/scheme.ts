/** Light, dark, or what the system says; a button goes through the three, and the browser remembers. */
import { announce } from './dom.ts';

const SCHEMES = ['auto', 'light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

const PLACE = 'falconry colours';

/** Makes the button work and shows what was chosen last time. */
export function startScheme(button: HTMLElement): void {
  let scheme = remembered();
  const show = () => {
    button.textContent = `Colours: ${scheme}`;
    if (scheme === 'auto') delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = scheme;
  };
  button.addEventListener('click', () => {
    scheme = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length]!;
    try {
      localStorage.setItem(PLACE, scheme);
    } catch {}
    show();
    announce(`Colours: ${scheme}`);
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
