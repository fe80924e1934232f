/** The reminder on views that need an API key. */
import type { App } from '../app.ts';
import { follow, h } from '../dom.ts';

export function keyNotice(app: App): HTMLElement {
  const element = h(
    'div',
    { class: 'notice' },
    h(
      'p',
      {},
      h('strong', {}, 'This needs an API key. '),
      h('a', { href: '#start' }, 'Enter it on the Start page'),
      '.',
    ),
  );
  follow(app.session, () => {
    element.hidden = app.session.key !== null;
  });
  return element;
}
