/** The reminder on views that need an API key; where there is a demonstration, it gives one. */
import type { App } from '../app.ts';
import { announce, button, type Child, fill, focusNear, follow, h } from '../dom.ts';
import { whileBusy } from './controls.ts';
import { problemBox } from './problems.ts';

export function keyNotice(app: App): HTMLElement {
  const problem = h('div');
  const text = h(
    'p',
    {},
    h('strong', {}, 'This needs an API key. '),
    h('a', { href: '#start' }, 'Enter it on the Start page'),
    '.',
  );
  const element = h(
    'div',
    { class: 'notice stack' },
    text,
    app.config.demonstration && visiting(app, problem),
    problem,
  );
  const show = () => {
    const held = element.contains(document.activeElement);
    element.hidden = app.session.key !== null;
    if (held && element.hidden) focusNear(element);
  };
  follow(app.session, show);
  return element;
}

/** The button that gets the key of a demonstration. */
function visiting(app: App, problem: HTMLElement): Child {
  const visit = async () => {
    fill(problem);
    try {
      await app.visit(AbortSignal.timeout(PATIENCE_MS));
      announce('You have a key for an hour');
    } catch (error) {
      fill(problem, problemBox(error));
    }
  };
  const control = button('Get one for an hour', () => void whileBusy(control, visit));
  return h('div', { class: 'row' }, control);
}

const PATIENCE_MS = 60_000;
