/** The first view: the API key, and where to go next. */
import { count } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { announce, button, div, fill, h, link, p, strong } from '../dom.ts';
import { field, lead, panel, view, whileBusy } from '../parts/controls.ts';
import { problemBox } from '../parts/problems.ts';

export function startView(app: App): View {
  const access = div('stack');
  app.followKey(() => {
    fill(access, app.key === null ? new KeyForm(app).element : keyKnown(app));
  });
  const most = count(app.config.maxSignatures);
  const about =
    'Sign messages, collect signatures into a task, watch the service aggregate them, and ' +
    'verify the aggregate in this browser, without trusting the service.';
  const steps = [
    step('Sign', 'Have a message signed, and see the signature verified at once.'),
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

/** Asks for the API key, and uses it once the service has accepted it. */
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
    const hint = 'It stays in this page, and is never part of a request’s address.';
    const line = field('API key', this.#input, hint);
    const place = div('with-button');
    this.#input.replaceWith(place);
    place.append(this.#input, this.#reveal());
    const untilClosed = ' until the tab is closed. Otherwise a reload forgets it.';
    const words = h('span', {}, 'Keep it for this tab', h('span', { class: 'hint' }, untilClosed));
    const keep = h('label', { class: 'choice top-aligned' }, this.#keep, words);
    const attributes = { class: 'stack', on: { submit } };
    this.element = h('form', attributes, line, keep, div('row', send), this.#problem);
  }

  /** The button that shows the key, and hides it again. */
  #reveal(): HTMLElement {
    const toggle = () => {
      const hidden = this.#input.type === 'password';
      this.#input.type = hidden ? 'text' : 'password';
      reveal.setAttribute('aria-pressed', String(hidden));
    };
    const attributes = { 'aria-pressed': 'false', 'aria-label': 'Show the key' };
    const reveal = button('Show', toggle, attributes);
    return reveal;
  }

  async #submit(): Promise<void> {
    const key = this.#input.value.trim();
    fill(this.#problem);
    this.#input.removeAttribute('aria-invalid');
    if (key === '') return this.#input.focus();
    try {
      await this.#app.tryKey(key);
      this.#app.useKey(key, this.#keep.checked);
      announce('The key was accepted');
    } catch (error) {
      this.#input.setAttribute('aria-invalid', 'true');
      fill(this.#problem, problemBox(error));
      this.#input.focus();
    }
  }
}

function keyKnown(app: App): HTMLElement {
  const forget = () => {
    app.useKey(null, false);
    announce('The key was forgotten');
    document.querySelector<HTMLElement>('#main input[type="password"]')?.focus();
  };
  return div(
    'stack',
    div('notice good', p('', strong('A key is in use.'), ' Requests from this page carry it.')),
    div('row', link('#build', 'Build a task', 'button'), button('Forget the key', forget)),
  );
}
