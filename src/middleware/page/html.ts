/** The HTML of the page: the template with the names of the assets and the configuration. */

import { CONFIG_META, type PageConfig } from '../../wire/pageConfig.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

/**
 * Fills in a template. Placeholders are `{{name}}`.
 *
 * @param names served names of the assets: `app`, `style`, `icon`
 * @throws RangeError for a placeholder that nothing fills
 */
export function renderPage(
  template: string,
  names: Readonly<Record<'app' | 'style' | 'icon', string>>,
  config: PageConfig,
): string {
  const configTag = `<meta name="${CONFIG_META}" content="${escapeHtml(JSON.stringify(config))}">`;
  const values: Readonly<Record<string, string>> = {
    app: escapeHtml(`ui/${names.app}`),
    style: escapeHtml(`ui/${names.style}`),
    icon: escapeHtml(`ui/${names.icon}`),
    config: configTag,
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new RangeError(`nothing fills {{${name}}}`);
    return value;
  });
}
