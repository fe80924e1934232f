/** The reminder on views that need an API key while there is none. */
import type { App } from '../app.ts';
import { h } from '../dom.ts';

export function keyNotice(app: App): HTMLElement {
  const element = h(
    'div',
    { class: 'notice' },
    h(
      'p',
      {},
      h('strong', {}, 'This needs an API key. '),
      h('a', { href: '#start' }, 'Enter it on the Start panel'),
      '.',
    ),
  );
  const show = () => {
    element.hidden = app.session.key !== null;
  };
  app.session.onChange(show);
  show();
  return element;
}
