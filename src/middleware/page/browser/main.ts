/**
 * The page: shows the view that the fragment of its address names, such as `#build` or
 * `#tasks/<id>`. The link of `falconry serve --show` has an API key in its fragment instead.
 */
import { holdsKey, keyOfLink } from '../../../wire/pageConfig.ts';
import { App, type View } from './app.ts';
import { announce, byId, fill, h, link, readStored, store } from './dom.ts';
import { icon } from './parts/controls.ts';
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

/** Returns the API key of the link, if any, and removes it from the address and the history. */
function takeKeyOfLink(): string | null {
  const { hostname, hash, pathname, search } = location;
  if (!holdsKey(hash)) return null;
  history.replaceState(null, '', pathname + search);
  return keyOfLink({ hostname, hash });
}

const keyAtStart = takeKeyOfLink();
const app = new App();
if (keyAtStart !== null) app.useKey(keyAtStart, false);
const main = byId('main');
const views = new Map<ViewName, View>();
let current: View | undefined;

function readAddress(): { name: ViewName; section: string; rest: string } {
  const [section = '', rest = ''] = location.hash.slice(1).split('/');
  if (section === 'tasks' && /^\d{1,30}$/.test(rest)) return { name: 'task', section, rest };
  const known = Object.hasOwn(VIEWS, section) && section !== 'task';
  const name = known ? (section as ViewName) : 'start';
  return { name, section: name, rest };
}

function show(moveFocus: boolean): void {
  const { name, section, rest } = readAddress();
  const view = views.get(name) ?? VIEWS[name](app);
  views.set(name, view);
  current?.leave?.();
  fill(main, view.element);
  current = view;
  document.title = `${view.title} · Falconry`;
  for (const each of document.querySelectorAll<HTMLAnchorElement>('#sections a')) {
    if (each.hash === `#${section}`) each.setAttribute('aria-current', 'page');
    else each.removeAttribute('aria-current');
  }
  view.enter?.(rest);
  if (moveFocus) {
    window.scrollTo(0, 0);
    view.element.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }
}

const SCHEMES = ['Auto', 'Light', 'Dark'] as const;
const SCHEME_PLACE = 'falconry colours';

/** Cycles through the colour schemes, and stores the choice. `Auto` follows the system. */
function startScheme(control: HTMLElement): void {
  const text = readStored('localStorage', SCHEME_PLACE);
  let scheme = SCHEMES.find((each) => each.toLowerCase() === text) ?? 'Auto';
  const apply = () => {
    fill(control, icon('halves'), scheme);
    control.setAttribute('aria-label', `Colours: ${scheme}`);
    document.documentElement.dataset.scheme = scheme.toLowerCase();
  };
  control.addEventListener('click', () => {
    scheme = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length]!;
    store('localStorage', SCHEME_PLACE, scheme.toLowerCase());
    apply();
    announce(`Colours: ${scheme}`);
  });
  apply();
}

startScheme(byId('scheme'));
const keyState = byId('key-state');
app.followKey(() => {
  fill(keyState, app.key === null ? 'No key' : app.isLoggedIn ? 'Logged in' : 'Key in use');
  keyState.classList.toggle('known', app.key !== null);
});
fill(
  byId('about'),
  'Service at ',
  h('span', { class: 'mono' }, app.base),
  ', with an ',
  link('openapi.json', 'OpenAPI document'),
  '. This page loads nothing from other hosts.',
);
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
// A file dropped outside a drop zone must not replace the page.
for (const type of ['dragover', 'drop'] as const) {
  window.addEventListener(type, (event) => event.preventDefault());
}
window.addEventListener('hashchange', () => {
  const key = takeKeyOfLink();
  if (key !== null) app.useKey(key, false);
  show(true);
});
show(false);
void app.tryLogin().then(() => app.isLoggedIn && show(false));
