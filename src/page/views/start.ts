/** The first view: the API key, and where to go from here. */
import type { App, View } from '../app.ts';
import { announce, button, fill, h } from '../dom.ts';
import { count } from '../format.ts';
import { field, lead, panel, whileBusy } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';

export function startView(app: App): View {
  const access = h('div', { class: 'stack' });
  const show = () => fill(access, app.session.key === null ? keyForm(app) : keyKnown(app));
  app.session.onChange(show);
  show();
  const element = h(
    'div',
    { class: 'view' },
    lead(
      'Many Falcon signatures, one short proof',
      'Sign, put a batch together, watch it become one aggregate, and verify that aggregate here, in this browser, ' +
        'without trusting the service.',
    ),
    h(
      'div',
      { class: 'columns two' },
      panel('Your API key', access),
      panel(
        'What you can do here',
        h(
          'ol',
          { class: 'stack' },
          step(
            app,
            'Sign',
            'sign',
            'Have a message signed, and see the signature checked at once.',
          ),
          step(
            app,
            'Build',
            'build',
            `Put up to ${count(app.config.maxSignatures)} signatures together: test items made here, or your own file.`,
          ),
          step(app, 'Tasks', 'tasks', 'Watch the service verify and aggregate them, live.'),
          step(
            app,
            'Verify',
            'verify',
            'Check a result with your own task file. This needs no key at all.',
          ),
        ),
      ),
    ),
  );
  return { title: 'Start', element };
}

function step(_app: App, name: string, route: string, text: string): HTMLElement {
  return h(
    'li',
    { class: 'tight' },
    h('a', { href: `#${route}` }, h('strong', {}, name)),
    h('p', { class: 'soft' }, text),
  );
}

function keyForm(app: App): HTMLElement {
  const problem = h('div');
  const input = h('input', {
    type: 'password',
    class: 'mono',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    required: true,
  });
  const keep = h('input', { type: 'checkbox' });
  const reveal = button(
    'Show',
    () => {
      const hidden = input.type === 'password';
      input.type = hidden ? 'text' : 'password';
      reveal.setAttribute('aria-pressed', String(hidden));
    },
    { 'aria-pressed': 'false', 'aria-label': 'Show the key' },
  );
  const send = h('button', { class: 'button primary', type: 'submit' }, 'Use this key');
  const line = field(
    'API key',
    input,
    'It stays in this page: never in an address, never in a log.',
  );
  const place = h('div', { class: 'with-button' });
  input.replaceWith(place);
  place.append(input, reveal);
  const submit = async () => {
    const key = input.value.trim();
    fill(problem);
    input.removeAttribute('aria-invalid');
    if (key === '') {
      input.focus();
      return;
    }
    try {
      await app.tryKey(key);
      app.session.use(key, keep.checked);
      announce('The key is good');
    } catch (error) {
      input.setAttribute('aria-invalid', 'true');
      fill(problem, problemBox(error));
      input.focus();
    }
  };
  return h(
    'form',
    {
      class: 'stack',
      on: {
        submit: (event) => {
          event.preventDefault();
          void whileBusy(send, submit);
        },
      },
    },
    line,
    h(
      'label',
      { class: 'choice top-aligned' },
      keep,
      h(
        'span',
        {},
        'Keep it for this tab',
        h(
          'span',
          { class: 'hint' },
          ' until the tab is closed. Otherwise it is forgotten on reload.',
        ),
      ),
    ),
    h('div', { class: 'row' }, send),
    problem,
  );
}

function keyKnown(app: App): HTMLElement {
  return h(
    'div',
    { class: 'stack' },
    h(
      'div',
      { class: 'notice good' },
      h('p', {}, h('strong', {}, 'A key is in use.'), ' Requests from this page carry it.'),
    ),
    h(
      'div',
      { class: 'row' },
      h('a', { class: 'button primary', href: '#build' }, 'Build a task'),
      button(
        'Forget the key',
        () => {
          app.session.forget();
          announce('The key is forgotten');
          document.querySelector<HTMLElement>('#main input[type="password"]')?.focus();
        },
        {},
      ),
    ),
  );
}
