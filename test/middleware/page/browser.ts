/**
 * A real service behind a real port, and a real Chromium that looks at its page and notes
 * everything that goes wrong.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openHttpServer } from '../../../src/cli/operate/httpServer.ts';
import { falconService, type ServiceOptions } from '../../../src/middleware/index.ts';
import { PATIENCE_MS } from '../../support/chromium.ts';

export interface UiService {
  /** Address of the service, without `/v1`. */
  readonly address: string;
  /** Address of its page. */
  readonly page: string;
  readonly service: ReturnType<typeof falconService>;
  readonly key: string;
  close(): Promise<void>;
}

/** Starts a service in a folder of its own, below a path if one is given. */
export async function startUiService(
  options: ServiceOptions = {},
  mountPath = '',
): Promise<UiService> {
  const directory = await mkdtemp(join(tmpdir(), 'falconry-ui-'));
  const service = falconService({ dataDirectory: directory, signing: true, ...options });
  await service.start();
  const { fetch } = mountPath === '' ? service.app : new Hono().route(mountPath, service.app);
  const server = await openHttpServer({ fetch, port: 0, host: '127.0.0.1' });
  const { key } = await service.apiKeys.create({ name: 'page' });
  const address = `http://127.0.0.1:${server.port}${mountPath}`;
  return {
    address,
    page: `${address}/v1/ui`,
    service,
    key,
    async close() {
      await Promise.all([server.close(0), service.stop({ graceMs: 0 })]);
      // Whatever is still being written to there may end first.
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** What a visit brought to light, beside what was looked for. */
export interface Visit {
  readonly page: Page;
  /** Errors and warnings of the console, uncaught exceptions, and violations of the policy. */
  readonly complaints: string[];
  /** Every request, as `METHOD url`. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Opens an address in a context of its own. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      complaints.push(`${message.type()}: ${message.text()}`);
    }
  });
  context.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  await page.exposeFunction('noteViolation', (text: string) => {
    complaints.push(`policy: ${text}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const note = (globalThis as unknown as { noteViolation(text: string): void }).noteViolation;
      note(
        `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      );
    });
  });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(url);
  return { page, complaints, requests, close: () => context.close() };
}

/** Enters the API key on the Start view. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByRole('textbox', { name: 'API key' }).fill(key);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByText('A key is in use.').waitFor();
}
