/**
 * The document as a page of plain HTML: no script, one inline style, nothing from elsewhere.
 * Landmarks, headings and captions serve screen readers; everything works with the keyboard.
 */

import { curlOf, shortened } from './curl.ts';
import { DOCS_STYLE } from './docsStyle.ts';
import { escapeHtml, type Json, markdown, typeOf } from './docsText.ts';
import type { Document } from './document.ts';

export { DOCS_STYLE };

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

/** The page of a document. @param hasUi whether `/v1/ui` is there to go back to */
export function docsPage(document: Document, hasUi: boolean): string {
  const doc = document as Json;
  const shown = Object.entries(doc.paths as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(
      ([method, operation]): Shown => ({ method: method.toUpperCase(), path, operation }),
    ),
  );
  const groups = (doc.tags as Json[]).map((tag) => ({
    name: String(tag.name),
    description: String(tag.description),
    shown: shown.filter(({ operation }) => operation.tags[0] === tag.name),
  }));
  const title = escapeHtml(String(doc.info.title));
  const address = escapeHtml(String(doc.servers[0].url));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}: API</title>
<link rel="icon" href="data:,">
<style>${DOCS_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<div class="bar">
${brand(hasUi)}
<p><a href="openapi.json">openapi.json</a> at <code>${address}</code></p>
${hasUi ? '<a class="back" href="ui">Back to the page for trying it</a>' : ''}
</div>
<h1>${title} <small>${escapeHtml(String(doc.info.version))}</small></h1>
</header>
<div class="columns">
<nav aria-label="Endpoints">
${groups.map(navGroup).join('\n')}
<h2><a href="#schemas">Schemas</a></h2>
</nav>
<main id="main" tabindex="-1">
${markdown(String(doc.info.description))}
${groups.map((group) => section(group, doc)).join('\n')}
${schemas(doc)}
</main>
</div>
</body>
</html>
`;
}

/** The mark and the name, as on the other page. */
function brand(isLink: boolean): string {
  const mark =
    '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">' +
    '<path class="mark" d="M3 7c7-1 12 2 14.5 6.5C20 9 24 7 29 8c-4 1.5-6.5 4.5-7.5 8.5' +
    'C20 22 15.5 25.5 9 26c3-2 4.5-4.5 4.5-7C9 18 5 13.5 3 7z"/></svg> <span>Falconry</span>';
  return isLink ? `<a class="brand" href="ui">${mark}</a>` : `<span class="brand">${mark}</span>`;
}

interface Group {
  readonly name: string;
  readonly description: string;
  readonly shown: readonly Shown[];
}

function navGroup({ name, shown }: Group): string {
  const items = shown.map(
    ({ method, operation }) =>
      `<li><a href="#${operation.operationId}"><span class="method ${method}">${method}</span> ` +
      `${escapeHtml(operation.summary)}</a></li>`,
  );
  return `<h2><a href="#tag-${name}">${name}</a></h2>\n<ul>${items.join('')}</ul>`;
}

function section({ name, description, shown }: Group, doc: Json): string {
  return `<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${name}</h2>
<p>${escapeHtml(description)}</p>
${shown.map((each) => article(each, doc)).join('\n')}
</section>`;
}

function article({ method, path, operation }: Shown, doc: Json): string {
  const { operationId: id, summary, description, parameters = [], requestBody } = operation;
  const about = description ? markdownLine(description) : '';
  const right = operation.security.length > 0 ? 'Needs the API key.' : 'Needs no API key.';
  const curl = escapeHtml(curlOf({ method, path, operation }, doc));
  const answers = Object.entries(operation.responses as Json).map(([status, answer]) =>
    response(status, answer),
  );
  return `<article aria-labelledby="${id}">
<h3 id="${id}"><span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code></h3>
<p><strong>${escapeHtml(summary)}.</strong> ${about} ${right}</p>
${parameters.length > 0 ? parameterTable(parameters) : ''}
${requestBody ? bodyOf(requestBody) : ''}
<h4>Example</h4>
<pre tabindex="0" aria-label="curl example"><code>${curl}</code></pre>
<h4>Answers</h4>
${answers.join('\n')}
</article>`;
}

function bodyOf({ description, content }: Json): string {
  const body = content['application/json'];
  const type = `<p>${escapeHtml(description)}: ${typeOf(body.schema)}</p>`;
  return `<h4>Body</h4>\n${type}\n${example(body.example)}`;
}

const markdownLine = (text: string) => markdown(text).replace(/^<p>|<\/p>$/g, '');

function parameterTable(parameters: readonly Json[]): string {
  const rows = parameters.map(
    ({ name, in: where, required, schema, description = '' }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code></th>` +
      `<td>${where}${required ? ', required' : ''}</td>` +
      `<td>${typeOf(schema)}</td><td>${markdownLine(description)}</td></tr>`,
  );
  return table('Parameters', ['Name', 'In', 'Type', 'Meaning'], rows);
}

/** A table that scrolls by itself where the page is narrow. */
function table(caption: string, columns: readonly string[], rows: readonly string[]): string {
  const head = columns.map((name) => `<th scope="col">${name}</th>`).join('');
  return `<div class="wide" tabindex="0" role="group" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

function response(status: string, answer: Json): string {
  const headers = Object.keys(answer.headers ?? {}).map((name) => `<code>${name}</code>`);
  const contents = Object.entries((answer.content ?? {}) as Json).map(([type, content]) => {
    const examples: Json[] = content.examples
      ? Object.values(content.examples as Json).map((each: Json) => each.value)
      : content.example !== undefined
        ? [content.example]
        : [];
    const shape = `<p><code>${escapeHtml(type)}</code>: ${typeOf(content.schema)}</p>`;
    return shape + examples.map(example).join('');
  });
  const kind = status.startsWith('2') || status.startsWith('3') ? 'good' : 'bad';
  const words = markdownLine(answer.description);
  return `<details><summary><span class="status ${kind}">${status}</span> ${words}</summary>
${headers.length > 0 ? `<p>Headers: ${headers.join(', ')}</p>` : ''}
${contents.join('\n')}
</details>`;
}

function example(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(shortened(value), null, 2);
  return `<pre tabindex="0" aria-label="example"><code>${escapeHtml(text)}</code></pre>`;
}

function schemas(doc: Json): string {
  const all = Object.entries(doc.components.schemas as Json).map(([name, schema]) => {
    const properties = Object.entries((schema.properties ?? {}) as Json).map(
      ([property, type]) =>
        `<tr><th scope="row"><code>${escapeHtml(property)}</code></th>` +
        `<td>${schema.required?.includes(property) ? 'always' : 'optional'}</td>` +
        `<td>${typeOf(type)}</td><td>${escapeHtml(type.description ?? '')}</td></tr>`,
    );
    const columns = ['Name', 'Present', 'Type', 'Meaning'];
    const members = table(`Members of ${name}`, columns, properties);
    // The id is inside, since a link to it then opens the details.
    return `<details><summary><code>${name}</code></summary>
<div id="schema-${name}">
${schema.description ? `<p>${escapeHtml(schema.description)}</p>` : ''}
${properties.length > 0 ? members : `<p>${typeOf(schema)}</p>`}
</div>
</details>`;
  });
  const heading = '<h2 id="schemas">Schemas</h2>';
  return `<section aria-labelledby="schemas">${heading}\n${all.join('\n')}</section>`;
}
