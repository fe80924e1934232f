/**
 * The page: shows the view that the address names. Addresses contain names of views and ids of
 * tasks; a link from `falconry serve --show` also contains an API key.
 */
import { holdsKey, keyOfLink } from '../../../wire/pageConfig.ts';
import { App, type View } from './app.ts';
import { byId, fill, h } from './dom.ts';
import { startScheme } from './scheme.ts';
import { buildView } from './views/build.ts';
import { signView } from './views/sign.ts';
import { startView } from './views/start.ts';
import { taskView } from './views/task.ts';
import { tasksView } from './views/tasks.ts';
import { verifyView } from './views/verify.ts';

const VIEWS = {
  start: startView,
  sign: signView,
  build: buildView,
  tasks: tasksView,
  task: taskView,
  verify: verifyView,
} as const satisfies Record<string, (app: App) => View>;

type ViewName = keyof typeof VIEWS;

/**
 * The API key of the link that was followed, if there is one. It leaves the address bar and the
 * history of the tab before anything else happens.
 */
function takeKeyOfLink(): string | null {
  const { hostname, hash, pathname, search } = location;
  if (!holdsKey(hash)) return null;
  history.replaceState(null, '', pathname + search);
  return keyOfLink({ hostname, hash });
}

function useKeyOfLink(key: string | null): void {
  if (key !== null) app.session.use(key, false);
}

const keyAtStart = takeKeyOfLink();
const app = new App();
const main = byId('main');
const views = new Map<ViewName, View>();
let current: View | undefined;

function readAddress(): { name: ViewName; section: string; rest: string } {
  const [section = '', rest = ''] = location.hash.slice(1).split('/');
  if (section === 'tasks' && /^\d{1,30}$/.test(rest)) return { name: 'task', section, rest };
  const known = Object.hasOwn(VIEWS, section) && section !== 'task';
  return {
    name: known ? (section as ViewName) : 'start',
    section: known ? section : 'start',
    rest,
  };
}

function show(moveFocus: boolean): void {
  const { name, section, rest } = readAddress();
  let view = views.get(name);
  if (view === undefined) {
    view = VIEWS[name](app);
    views.set(name, view);
  }
  current?.leave?.();
  fill(main, view.element);
  current = view;
  document.title = `${view.title} · Falconry`;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#sections a')) {
    if (link.hash === `#${section}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  view.enter?.(rest);
  if (moveFocus) {
    window.scrollTo(0, 0);
    view.element.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }
}

const keyState = byId('key-state');
function showKey(): void {
  const known = app.session.key !== null;
  fill(keyState, known ? 'Key in use' : 'No key');
  keyState.classList.toggle('known', known);
}

startScheme(byId('scheme'));
app.session.onChange(showKey);
showKey();
useKeyOfLink(keyAtStart);
fill(
  byId('about'),
  'The service at ',
  h('span', { class: 'mono' }, app.base),
  ', its ',
  h('a', { href: 'openapi.json' }, 'OpenAPI document'),
  '. This page loads nothing from anywhere else.',
);
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
// A file dropped outside of a drop zone must not replace the page.
for (const type of ['dragover', 'drop'] as const) {
  window.addEventListener(type, (event) => event.preventDefault());
}
window.addEventListener('hashchange', () => {
  useKeyOfLink(takeKeyOfLink());
  show(true);
});
show(false);
