/** The first view: the API key, and links to the other views. */
import { count } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { announce, button, div, fill, h, link, p, strong } from '../dom.ts';
import { field, lead, onSubmit, panel, view, whileBusy } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';

export function startView(app: App): View {
  const access = div('stack');
  app.followKey(() => {
    fill(access, app.key === null ? keyForm(app) : keyKnown(app));
  });
  const most = count(app.config.maxSignatures);
  const about =
    'Sign messages, collect signatures into a task, watch the service aggregate them, and ' +
    'verify the aggregate in this browser, without trusting the service.';
  const steps = [
    step('Sign', 'Sign a message, and see the signature verified at once.'),
    step('Build', `Collect up to ${most} signatures: test items made here, or your own file.`),
    step('Tasks', 'Watch the service verify and aggregate them, live.'),
    step('Verify', 'Verify a result with your own task file. This needs no key.'),
  ];
  const element = view(
    lead('Many Falcon signatures, one short proof', about),
    div(
      'columns two',
      panel('Your API key', access),
      panel('What you can do here', h('ol', { class: 'stack' }, steps)),
    ),
  );
  return { title: 'Start', element };
}

const step = (name: string, text: string): HTMLElement =>
  h('li', { class: 'tight' }, link(`#${name.toLowerCase()}`, strong(name)), p('soft', text));

const OPERATOR =
  'The operator of the service creates keys: falconry keys create --name NAME. The first start ' +
  'of falconry serve writes one to the file first-api-key in its data directory.';
const LOGIN = 'Log in to this site and reload the page, or enter a key or token that it issued.';

/** Asks for the API key, and checks it with the service. */
function keyForm(app: App): HTMLElement {
  const problem = h('div');
  const keep = h('input', { type: 'checkbox' });
  const input = h('input', {
    type: 'password',
    class: 'mono',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    required: true,
  });
  const toggle = () => {
    const hidden = input.type === 'password';
    input.type = hidden ? 'text' : 'password';
    reveal.setAttribute('aria-pressed', String(hidden));
  };
  const reveal = button('Show', toggle, { 'aria-pressed': 'false', 'aria-label': 'Show the key' });
  const tryKey = async () => {
    const key = input.value.trim();
    fill(problem);
    input.removeAttribute('aria-invalid');
    if (key === '') return input.focus();
    try {
      await app.tryKey(key);
      app.useKey(key, keep.checked);
      announce('The key was accepted');
    } catch (error) {
      input.setAttribute('aria-invalid', 'true');
      fill(problem, problemBox(error));
      input.focus();
    }
  };
  const send = h('button', { class: 'button primary', type: 'submit' }, 'Use this key');
  const line = field('API key', input, 'It stays in this page and is never sent in a URL.');
  const source = p('hint', app.config.ownLogin ? LOGIN : OPERATOR);
  const place = div('with-button');
  input.replaceWith(place);
  place.append(input, reveal);
  const otherwise = ' until the tab is closed. Otherwise a reload forgets it.';
  const words = h('span', {}, 'Keep it for this tab', h('span', { class: 'hint' }, otherwise));
  return h(
    'form',
    { class: 'stack', on: onSubmit(() => whileBusy(send, tryKey)) },
    line,
    source,
    h('label', { class: 'choice top-aligned' }, keep, words),
    div('row', send),
    problem,
  );
}

function keyKnown(app: App): HTMLElement {
  const forget = () => {
    app.useKey(null, false);
    announce('The page has forgotten the key');
    document.querySelector<HTMLElement>('#main input[type="password"]')?.focus();
  };
  const [state, use] = app.isLoggedIn
    ? ['You are logged in to this site.', ' No key is needed.']
    : ['A key is in use.', ' This page sends it with its requests.'];
  const end = app.isLoggedIn ? [] : [button('Forget the key', forget)];
  return div(
    'stack',
    div('notice good', p('', strong(state), use)),
    div('row', link('#build', 'Build a task', 'button'), ...end),
  );
}
