/** The first view: the API key, and where to go next. */
import type { App, View } from '../app.ts';
import { announce, button, fill, follow, h } from '../dom.ts';
import { count } from '../format.ts';
import { field, lead, panel, view, whileBusy } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';

export function startView(app: App): View {
  const access = h('div', { class: 'stack' });
  const show = () => {
    fill(access, app.session.key === null ? new KeyForm(app).element : keyKnown(app));
  };
  follow(app.session, show);
  const element = view(
    lead(
      'Many Falcon signatures, one short proof',
      'Sign messages, collect signatures into a task, watch the service aggregate them, and ' +
        'verify the aggregate in this browser, without trusting the service.',
    ),
    h(
      'div',
      { class: 'columns two' },
      panel('Your API key', access),
      panel('What you can do here', steps(app)),
    ),
  );
  return { title: 'Start', element };
}

function steps(app: App): HTMLElement {
  const most = count(app.config.maxSignatures);
  return h(
    'ol',
    { class: 'stack' },
    step('Sign', 'Have a message signed, and see the signature verified at once.'),
    step('Build', `Collect up to ${most} signatures: test items made here, or your own file.`),
    step('Tasks', 'Watch the service verify and aggregate them, live.'),
    step('Verify', 'Verify a result with your own task file. This needs no key.'),
  );
}

function step(name: string, text: string): HTMLElement {
  const link = h('a', { href: `#${name.toLowerCase()}` }, h('strong', {}, name));
  return h('li', { class: 'tight' }, link, h('p', { class: 'soft' }, text));
}

/** Asks for the API key, and takes it once the service has accepted it. */
class KeyForm {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #problem = h('div');
  readonly #input = h('input', {
    type: 'password',
    class: 'mono',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    required: true,
  });
  readonly #keep = h('input', { type: 'checkbox' });

  constructor(app: App) {
    this.#app = app;
    const send = h('button', { class: 'button primary', type: 'submit' }, 'Use this key');
    const submit = (event: Event) => {
      event.preventDefault();
      void whileBusy(send, () => this.#submit());
    };
    const hint = 'It stays in this page: it is never part of an address or a log.';
    const line = field('API key', this.#input, hint);
    const place = h('div', { class: 'with-button' });
    this.#input.replaceWith(place);
    place.append(this.#input, this.#reveal());
    const untilClosed = ' until the tab is closed. Otherwise a reload forgets it.';
    const words = h('span', {}, 'Keep it for this tab', h('span', { class: 'hint' }, untilClosed));
    this.element = h(
      'form',
      { class: 'stack', on: { submit } },
      line,
      h('label', { class: 'choice top-aligned' }, this.#keep, words),
      h('div', { class: 'row' }, send),
      this.#problem,
    );
  }

  /** The button that shows the key, and hides it again. */
  #reveal(): HTMLElement {
    const reveal = button(
      'Show',
      () => {
        const hidden = this.#input.type === 'password';
        this.#input.type = hidden ? 'text' : 'password';
        reveal.setAttribute('aria-pressed', String(hidden));
      },
      { 'aria-pressed': 'false', 'aria-label': 'Show the key' },
    );
    return reveal;
  }

  async #submit(): Promise<void> {
    const key = this.#input.value.trim();
    fill(this.#problem);
    this.#input.removeAttribute('aria-invalid');
    if (key === '') return this.#input.focus();
    try {
      await this.#app.tryKey(key);
      this.#app.session.use(key, this.#keep.checked);
      announce('The key was accepted');
    } catch (error) {
      this.#input.setAttribute('aria-invalid', 'true');
      fill(this.#problem, problemBox(error));
      this.#input.focus();
    }
  }
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
      h('a', { class: 'button', href: '#build' }, 'Build a task'),
      button('Forget the key', () => {
        app.session.forget();
        announce('The key was forgotten');
        document.querySelector<HTMLElement>('#main input[type="password"]')?.focus();
      }),
    ),
  );
}
