/** Settings: one name in three spellings, one order, every fault told. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { examineConfig, fileNames, readConfig } from '../../src/cli/lib/config.ts';
import {
  ALL_SETTINGS,
  envOf,
  optionOf,
  SERVE_SETTINGS,
  type SettingName,
} from '../../src/cli/lib/settings.ts';
import { readSetting, showBytes, showMs } from '../../src/cli/lib/settingText.ts';
import { editDistance, nearest } from '../../src/cli/lib/text.ts';
import { resolveService, serviceOptions } from '../../src/cli/operate/serveConfig.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from '../../src/middleware/options/optionTable.ts';
import { fallbackOf, type OptionTable } from '../../src/shared/optionRows.ts';
import { falconry, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const write = (name: string, value: unknown) =>
  writeFileSync(at(name), typeof value === 'string' ? value : JSON.stringify(value));

beforeAll(() => process.chdir(folder.path));
afterEach(() => write('falconry.json', '{}'));
afterAll(() => {
  process.chdir('/');
});

describe('the order', () => {
  it('option, environment, file, default', async () => {
    write('falconry.json', { port: 3, threads: 3 });
    const env = { FALCONRY_PORT: '2' };
    const names = ['port', 'threads', 'host'] as const;
    const all = await readConfig(names, { options: { port: '1' }, env });
    expect(all.values).toEqual({ port: 1, threads: 3, host: '127.0.0.1' });
    expect(all.origins.port).toEqual({ source: 'option', at: '--port' });
    expect(all.origins.threads).toEqual({ source: 'file', at: 'falconry.json' });
    expect(all.origins.host).toEqual({ source: 'default', at: '' });
    const without = await readConfig(names, { options: {}, env });
    expect(without.values.port).toBe(2);
    expect(without.origins.port).toEqual({ source: 'environment', at: 'FALCONRY_PORT' });
    expect((await readConfig(names, { options: {}, env: {} })).values.port).toBe(3);
    const empty = { FALCONRY_PORT: '' };
    expect((await readConfig(names, { options: {}, env: empty })).values.port).toBe(3);
  });

  it('PORT only after FALCONRY_PORT', async () => {
    const read = async (env: Record<string, string>) =>
      (await readConfig(['port'], { options: {}, env })).values.port;
    expect(await read({ PORT: '5' })).toBe(5);
    expect(await read({ PORT: '5', FALCONRY_PORT: '6' })).toBe(6);
  });

  it.skipIf(process.platform === 'win32')(
    'a file of a folder that may not be entered is none; one that may not be read is a fault',
    async () => {
      write('falconry.json', { port: 1 });
      const read = async () => (await readConfig(['port'], { options: {}, env: {} })).values.port;
      const isRoot = process.geteuid!() === 0;
      chmodSync(folder.path, isRoot ? 0o700 : 0o600);
      try {
        if (isRoot) process.seteuid!(65_534);
        expect(await read()).toBe(8787);
        if (isRoot) process.seteuid!(0);
        chmodSync(folder.path, 0o755);
        chmodSync(at('falconry.json'), 0o000);
        if (isRoot) process.seteuid!(65_534);
        await expect(read()).rejects.toThrow(/falconry\.json cannot be read \(EACCES\)/);
      } finally {
        if (isRoot) process.seteuid!(0);
        chmodSync(folder.path, 0o700);
        chmodSync(at('falconry.json'), 0o600);
      }
    },
  );

  it('--config before FALCONRY_CONFIG before falconry.json', async () => {
    write('falconry.json', { port: 1 });
    write('env.json', { port: 2 });
    write('option.json', { port: 3 });
    const env = { FALCONRY_CONFIG: 'env.json' };
    const read = async (options: object, e = {}) =>
      (await readConfig(['port'], { options: { ...options }, env: e })).values.port;
    expect(await read({})).toBe(1);
    expect(await read({}, env)).toBe(2);
    expect(await read({ config: 'option.json' }, env)).toBe(3);
  });
});

describe('values', () => {
  const cases: [SettingName, unknown, unknown][] = [
    ['port', '0', 0],
    ['port', 8080, 8080],
    ['trustProxy', 'on', true],
    ['trustProxy', 'No', false],
    ['trustProxy', true, true],
    ['trustProxy', '1', true],
    ['trustProxy', '2', 2],
    ['trustProxy', 2, 2],
    ['trustProxy', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    ['trustProxy', ['10.0.0.0/8'], ['10.0.0.0/8']],
    ['grace', '90', 90_000],
    ['grace', 90, 90_000],
    ['grace', '1.5m', 90_000],
    ['grace', '250ms', 250],
    ['retention', '30d', 2_592_000_000],
    ['retention', 'none', null],
    ['retention', null, null],
    ['maxBody', '32MiB', 33_554_432],
    ['maxBody', '500kB', 500_000],
    ['maxBody', '2048', 2048],
    ['publicUrl', 'https://a.example/falcon/', 'https://a.example/falcon'],
    ['cors', '*', '*'],
    ['cors', 'https://a.example, https://b.example', ['https://a.example', 'https://b.example']],
    ['cors', ['https://a.example'], ['https://a.example']],
    ['log', 'json', 'json'],
  ];
  it.each(cases)('%s %j', async (name, given, value) => {
    write('falconry.json', { [name]: given });
    expect((await readConfig([name], { options: {}, env: {} })).values[name]).toEqual(value);
    if (typeof given !== 'string') return;
    write('falconry.json', '{}');
    const env = { [envOf(name)]: given };
    expect((await readConfig([name], { options: {}, env })).values[name]).toEqual(value);
  });

  const wrong: [SettingName, unknown, RegExp][] = [
    ['port', '70000', /^FALCONRY_PORT must be a whole number, from 0 to 65535, not "70000"$/],
    ['port', '8e3', /must be a whole number/],
    ['port', '-1', /must be a whole number/],
    ['threads', '1.5', /from 1 to 256/],
    ['ui', 'maybe', /must be 1 or 0/],
    ['trustProxy', 'maybe', /must hold networks such as 10.0.0.0\/8, which "maybe" is not/],
    ['trustProxy', '33', /must be a whole number, from 1 to 32/],
    ['trustProxy', ',', /must name one network or more/],
    ['grace', '2 weeks', /must be a time from 0s to 1d, such as 90s/],
    ['grace', '90000000', /from 0s to 1d/],
    ['maxBody', '12 quarts', /must be a size from 1KiB to 1GiB, such as/],
    ['maxBody', '1B', /from 1KiB to 1GiB/],
    ['publicUrl', 'example.com', /absolute http or https URL/],
    ['publicUrl', 'https://a.example/?x=1', /absolute http or https URL/],
    ['logLevel', 'loud', /must be one of debug, info, warn, error, silent, not "loud"/],
  ];
  it.each(wrong)('not %s %j', async (name, given, message) => {
    const env = { [envOf(name)]: String(given) };
    await expect(readConfig([name], { options: {}, env })).rejects.toThrow(message);
  });

  it('are written so that they are read back', () => {
    for (const [ms, text] of [
      [0, '0s'],
      [250, '250ms'],
      [90_000, '90s'],
      [3_600_000, '1h'],
      [86_400_000, '1d'],
    ] as const) {
      expect(showMs(ms)).toBe(text);
    }
    for (const [bytes, text] of [
      [0, '0B'],
      [1000, '1000B'],
      [4096, '4KiB'],
      [33_554_432, '32MiB'],
    ] as const) {
      expect(showBytes(bytes)).toBe(text);
    }
  });
});

describe('the file', () => {
  it('tells every fault, and what was meant', async () => {
    write('falconry.json', { prot: 1, threads: 'many', serviceNam: 'x', port: 80 });
    const { faults, values } = await examineConfig(['port', 'threads'], { options: {}, env: {} });
    expect(faults.map(({ message }) => message)).toEqual([
      'falconry.json: "prot" is not a setting; did you mean "port"?',
      'falconry.json: "serviceNam" is not a setting; did you mean "serviceName"?',
      'falconry.json: "threads" must be a whole number, from 1 to 256, not "many"',
    ]);
    expect(values.port).toBe(80);
    const ended = await falconry(folder.path, ['serve']);
    expect(ended.code).toBe(2);
    expect(ended.err.match(/did you mean/g)).toHaveLength(2);
  });

  it.each([
    ['[]', /must hold one JSON object/],
    ['"x"', /must hold one JSON object/],
    ['{"port":', /is not valid JSON/],
  ])('refuses %s', async (text, message) => {
    write('falconry.json', text);
    await expect(readConfig(['port'], { options: {}, env: {} })).rejects.toThrow(message);
  });

  it('may have a byte order mark', async () => {
    write('falconry.json', '\ufeff{"port": 81}');
    const { values } = await readConfig(['port'], { options: {}, env: {} });
    expect(values.port).toBe(81);
  });

  it('must be there when it is named', async () => {
    const options = { config: 'nowhere.json' };
    const reading = readConfig(['port'], { options, env: {} });
    await expect(reading).rejects.toThrow('nowhere.json does not exist');
  });

  it('serves every command: settings of others are no fault', async () => {
    write('falconry.json', { url: 'http://x.example', data: 'd', $schema: './schema.json' });
    const { values } = await readConfig(['data'], { options: {}, env: {} });
    expect(values.data).toBe('d');
  });

  it('knows no name that is inherited', async () => {
    write('falconry.json', '{"constructor": 1, "__proto__": {"port": 1}}');
    const { faults, values } = await examineConfig(['port'], { options: {}, env: {} });
    expect(faults.map(({ name }) => name)).toContain('constructor');
    expect(values.port).toBe(8787);
  });
});

describe('secrets', () => {
  it('come from the environment, or from a file', async () => {
    write('key', '  the-secret\n');
    const read = async (options: object, env: Record<string, string>) => {
      const { values, origins } = await readConfig(['apiKey'], { options: { ...options }, env });
      return [values.apiKey, origins.apiKey.source, origins.apiKey.secretFile];
    };
    expect(await read({}, { FALCONRY_API_KEY: 'e' })).toEqual(['e', 'environment', undefined]);
    const inFile = { FALCONRY_API_KEY_FILE: 'key' };
    expect(await read({}, inFile)).toEqual(['the-secret', 'environment', 'key']);
    expect(await read({ 'api-key-file': 'key' }, {})).toEqual(['the-secret', 'option', 'key']);
    write('falconry.json', { apiKeyFile: 'key' });
    expect(await read({}, {})).toEqual(['the-secret', 'file', 'key']);
  });

  it('are in no message', async () => {
    write('empty', '');
    for (const env of [{ FALCONRY_API_KEY_FILE: 'empty' }, { FALCONRY_API_KEY_FILE: 'nowhere' }]) {
      await expect(readConfig(['apiKey'], { options: {}, env })).rejects.toThrow(/names a file/);
    }
    write('falconry.json', { apiKey: { secret: 'swordfish' } });
    const reading = readConfig(['apiKey'], { options: {}, env: {} });
    await expect(reading).rejects.toThrow(/"apiKey" must be a string$/);
  });

  it('are no value of an option', async () => {
    const ended = await falconry(folder.path, ['tasks', '--api-key', 'swordfish']);
    expect(ended.code).toBe(2);
    expect(ended.err).toContain('use --api-key-file');
    expect(ended.err).not.toContain('swordfish');
  });

  it('of the first start: taken once, never shown', async () => {
    const key = 'k'.repeat(40);
    const args = ['doctor', '--json', '--port', '0', '--data', 'data'];
    const { out, err } = await falconry(folder.path, args, '', { FALCONRY_FIRST_KEY: key });
    expect(out + err).not.toContain(key);
    const shown = JSON.parse(out).config.find(({ name }: { name: string }) => name === 'firstKey');
    expect(shown).toMatchObject({ value: null, text: '(hidden)', at: 'FALCONRY_FIRST_KEY' });
    const short = await falconry(folder.path, ['serve', '--port', '0'], '', {
      FALCONRY_FIRST_KEY: 'swordfish',
    });
    expect([short.code, short.out]).toEqual([2, '']);
    expect(short.err).not.toContain('swordfish');
  });
});

describe('names', () => {
  it('that Kubernetes injects for Services are none', async () => {
    const link = 'tcp://10.96.0.7:8787';
    const injected: Record<string, string> = {};
    for (const service of ['FALCONRY', 'FALCONRY_METRICS', 'FALCONRY_MY_APP']) {
      Object.assign(injected, {
        [`${service}_SERVICE_HOST`]: '10.96.0.7',
        [`${service}_SERVICE_PORT`]: '8787',
        [`${service}_SERVICE_PORT_HTTP`]: '8787',
        [`${service}_PORT`]: link,
        ...Object.fromEntries(
          ['', '_PROTO', '_PORT', '_ADDR'].flatMap((part) => [
            [`${service}_PORT_8787_TCP${part}`, part === '' ? link : '8787'],
            [`${service}_PORT_53_UDP${part}`, part === '' ? link.replace('tcp', 'udp') : '53'],
          ]),
        ),
      });
    }
    const names = ['port', 'metricsPort', 'serviceName'] as const;
    const read = (env = {}) => readConfig(names, { options: {}, env: { ...injected, ...env } });
    expect(await read()).toMatchObject({
      ...{ warnings: [], values: { port: 8787, metricsPort: undefined, serviceName: 'svc' } },
    });
    expect((await read({ PORT: '81' })).values.port).toBe(81);
    const own = { FALCONRY_PORT: '80', FALCONRY_METRICS_PORT: '9464' };
    const { values } = await read({ ...own, FALCONRY_SERVICE_NAME: 'x' });
    expect(values).toEqual({ port: 80, metricsPort: 9464, serviceName: 'x' });
    await expect(read({ FALCONRY_PORT: 'http://a' })).rejects.toThrow('whole number');
    const { warnings } = await read({ FALCONRY_PROT: link, FALCONRY_SERVICE_NAMES: 'x' });
    expect(warnings.length).toBe(2);
  });

  it('of the environment that are misspelt are told', async () => {
    const env = { FALCONRY_THRAEDS: '3', FALCONRY_PORT: '1', FALCONRY_FIRST_KEY_FILE: '' };
    const { warnings } = await readConfig(['port'], { options: {}, env });
    expect(warnings).toEqual(['FALCONRY_THRAEDS is not a setting; did you mean FALCONRY_THREADS?']);
  });

  it.each([
    ['access-log', 'off'],
    ['burst', '7'],
    ['max-buffered', '1GiB'],
    ['results', 'through'],
    ['signing-set', 'falcon1024'],
    ['uploads', 'through'],
  ])('that are no longer settings are refused: --%s', async (name, value) => {
    const ended = await falconry(folder.path, ['serve', `--${name}`, value]);
    expect([ended.code, ended.err]).toEqual([2, expect.stringContaining('unknown option')]);
  });

  it('are the same in three spellings', () => {
    for (const name of Object.keys(ALL_SETTINGS)) {
      expect(optionOf(name)).toMatch(/^[a-z][a-z0-9]*(-[a-z]+)*$/);
      expect(envOf(name)).toBe(`FALCONRY_${optionOf(name).toUpperCase().replaceAll('-', '_')}`);
      expect(fileNames()).toContain(name);
    }
  });

  it('cover every option of the service that is not code', () => {
    const callers = ['authenticate', 'credentialHeaders'];
    const hooks = [...callers, 'onEvent', 'onPortCall', 'tracing', 'logger'];
    const code = ['store', 'blobs', 'signer', ...hooks];
    const { limits, ...rest } = resolveOptions({});
    const options = Object.keys(rest).filter((name) => !code.includes(name));
    expect(Object.keys(SERVICE_OPTIONS).toSorted()).toEqual(options.toSorted());
    expect(Object.keys(CLIENT_LIMITS).toSorted()).toEqual(Object.keys(limits).toSorted());
    const table: OptionTable = { ...SERVICE_OPTIONS, ...CLIENT_LIMITS };
    for (const [option, { setting }] of Object.entries(table)) {
      if (setting === null) continue;
      expect(SERVE_SETTINGS).toContain(setting ?? option);
    }
  });

  it('reach the option that they mean, which has their default', async () => {
    const nothing = await readConfig(SERVE_SETTINGS, { options: {}, env: {} });
    expect(serviceOptions(nothing)).toEqual({ limits: {} });
    const written = {
      lease: '7s',
      maxBody: '2MiB',
      requestsPerSecond: '7',
      storedBytes: '1kB',
      ui: 'no',
      cors: 'https://a.example',
    };
    write('falconry.json', written);
    const config = await readConfig(SERVE_SETTINGS, { options: {}, env: {} });
    const options = serviceOptions(config);
    expect(options).toEqual({
      leaseMs: 7000,
      maxBodyBytes: 2 ** 21,
      ui: false,
      cors: ['https://a.example'],
      limits: { requestsPerSecond: 7, storedBytes: 1000 },
    });
    const settings = resolveService(options);
    expect(settings).toMatchObject(options);
    // What follows from another option.
    expect(settings.limits.burst).toBe(14);
    expect(resolveService({ maxBodyBytes: 2 ** 30 }).maxBufferedBytes).toBe(2 ** 31);
    const defaults: Record<string, unknown> = { ...settings, ...settings.limits };
    for (const [option, row] of Object.entries<OptionTable[string]>(SERVICE_OPTIONS)) {
      if (option in options) continue;
      expect(defaults[option], option).toEqual(fallbackOf(row));
    }
  });
});

describe('the table', () => {
  const rows = Object.entries(ALL_SETTINGS);

  it('says the same to code and to the command line, at both ends of every range', () => {
    const table: OptionTable = { ...SERVICE_OPTIONS, ...CLIENT_LIMITS };
    let ranges = 0;
    for (const [option, row] of Object.entries(table)) {
      if (row.type !== 'integer') continue;
      ranges++;
      const limit = option in CLIENT_LIMITS;
      const ofCode = (value: number) => {
        const one = { [option]: value };
        // The one rule between two options: what is buffered holds two whole bodies.
        const room = option === 'maxBodyBytes' ? { maxBufferedBytes: 2 ** 36 } : {};
        const small = option === 'maxBufferedBytes' ? { maxBodyBytes: 1024 } : {};
        return resolveOptions(limit ? { limits: one } : { ...room, ...small, ...one });
      };
      const ofLine = (value: number) =>
        readSetting(row, row.unit === 'ms' ? `${value}ms` : String(value)).wrong;
      const { min = 0, max } = row;
      const ends = max === undefined ? [min] : [min, max];
      for (const value of ends) {
        expect(() => ofCode(value), `${option} ${value}`).not.toThrow();
        expect(ofLine(value), `${option} ${value}`).toBeUndefined();
      }
      for (const value of max === undefined ? [min - 1] : [min - 1, max + 1]) {
        expect(() => ofCode(value), `${option} ${value}`).toThrow(RangeError);
        expect(ofLine(value), `${option} ${value}`).toBeDefined();
      }
    }
    expect(ranges).toBeGreaterThan(15);
  });

  it('has a default that its own rule accepts', () => {
    for (const [name, row] of rows) {
      const fallback = fallbackOf(row);
      if (fallback === undefined) continue;
      const { type, unit } = row;
      const written =
        type === 'flag' ? fallback : unit === 'ms' ? `${fallback}ms` : String(fallback);
      expect(readSetting(row, written), name).toEqual({ value: fallback });
    }
  });
});

describe('did you mean', () => {
  it('counts slips of the finger', () => {
    expect(editDistance('port', 'prot')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('threads', 'thread')).toBe(1);
    expect(editDistance('kitten', 'sitting')).toBe(3);
  });

  it('has the nearest one, or none', () => {
    const known = ['port', 'host', 'public-url', 'threads'];
    expect(nearest('prot', known)).toBe('port');
    expect(nearest('publicurl', known)).toBe('public-url');
    expect(nearest('pub', known)).toBe('public-url');
    expect(nearest('Threads', known)).toBe('threads');
    expect(nearest('xyzzy', known)).toBeUndefined();
  });

  it.each([
    [['srve'], 'did you mean "serve"?'],
    [['--versoin'], 'did you mean "--version"?'],
    [['serve', '--thread', '2'], 'did you mean --threads?'],
    [['serve', '--no-signin'], 'did you mean --signing?'],
    [['keys', 'lst'], 'did you mean list?'],
    [['aggregate', 't', '--fromat', 'proof'], 'did you mean --format?'],
  ])('%j', async (args, words) => {
    const { code, err, out } = await falconry(folder.path, args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(words);
    const json = await falconry(folder.path, [...args, '--json']);
    expect(json.code).toBe(2);
    const answer = JSON.parse(json.out || json.err);
    expect(answer).toMatchObject({ ok: false, code: 'USAGE' });
    expect(answer.message).toContain(words);
  });
});

it('a configuration file that holds a secret and is open to others is a fault', async () => {
  write('open.json', { firstKey: 'x'.repeat(40), port: 0, data: 'fresh' });
  chmodSync(at('open.json'), 0o644);
  const args = ['doctor', '--config', 'open.json'];
  const open = await falconry(folder.path, args);
  expect([open.code, open.out]).toEqual([1, expect.stringContaining('can be read by others')]);
  chmodSync(at('open.json'), 0o600);
  expect((await falconry(folder.path, args)).code).toBe(0);
});
