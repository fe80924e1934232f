/**
 * The first thing to do here: test items become a task. Where the operator offers a demonstration,
 * whoever has no key gets one on the way.
 */
import type { App } from '../app.ts';
import { announce, button, fill, follow, h } from '../dom.ts';
import { panel } from './controls.ts';
import { longAction } from './longAction.ts';
import { mayReplace } from './replaceDraft.ts';
import { makeTestItems, usualItems } from './testItems.ts';

export function tryOut(app: App): HTMLElement {
  const { count } = usualItems(app);
  const text = h('p', { class: 'soft' });
  const start = button('Try it with test items', () => void action.run(), { look: 'primary' });
  const action = longAction({
    label: 'Making test items',
    control: start,
    stopped: 'Stopped',
    work: async (signal, tell) => {
      if (!(await mayReplace(app))) return;
      if (app.session.key === null && app.config.demonstration) {
        tell('Getting a key', 0, 0);
        await app.visit(signal);
        announce('You have a key for an hour');
      }
      await makeTestItems(app, usualItems(app), signal, tell);
      app.go('build');
    },
  });
  const show = () => fill(text, `${made(count)} ${right(app)}`);
  follow(app.session, show);
  return panel('Try it', text, h('div', { class: 'row' }, start), action.places);
}

const made = (count: number) =>
  `This browser makes ${count} signatures with new keys, verifies them, and puts them into a task.`;

function right({ session, config }: App): string {
  if (session.key !== null) return 'You submit it with your key.';
  return config.demonstration
    ? 'To submit it, you get a key for an hour; what you made with it is erased afterwards.'
    : 'That needs no API key; to have them aggregated, you need one.';
}
